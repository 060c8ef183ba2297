#define _GNU_SOURCE

#include "FullScreen.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static char farewell[64];
static size_t farewell_length;
static volatile sig_atomic_t is_taken;

static const int faults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP};
enum { FAULTS = sizeof faults / sizeof faults[0] };

/* write and tcsetattr may be called in a handler (signal-safety(7)). */
void clinux_full_screen_leave(void) {
    if (!is_taken) return;
    is_taken = 0;
    size_t written = 0;
    while (written < farewell_length) {
        ssize_t count = write(STDOUT_FILENO, farewell + written, farewell_length - written);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        written += (size_t)count;
    }
    tcflush(STDIN_FILENO, TCIFLUSH);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void fall(int number) {
    clinux_full_screen_leave();
    /* The disposition is the default again (SA_RESETHAND), and the signal comes when this returns. */
    raise(number);
}

int clinux_full_screen_enter(const char *enter, const char *leave) {
    size_t length = strlen(leave);
    if (length > sizeof farewell) return -EINVAL;
    if (!is_taken) {
        if (tcgetattr(STDIN_FILENO, &before) != 0) return -errno;
        memcpy(farewell, leave, length);
        farewell_length = length;
        for (int index = 0; index < FAULTS; index++) {
            struct sigaction action;
            memset(&action, 0, sizeof action);
            action.sa_handler = fall;
            action.sa_flags = SA_RESETHAND;
            sigaction(faults[index], &action, NULL);
        }
    }
    struct termios raw = before;
    cfmakeraw(&raw);
    is_taken = 1;
    /* Before the first octet: a fault from here on gives the terminal back. */
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0) {
        int failure = errno;
        is_taken = 0;
        return -failure;
    }
    length = strlen(enter);
    return write(STDOUT_FILENO, enter, length) == (ssize_t)length ? 0 : -EIO;
}

int clinux_full_screen_size(int *columns, int *rows) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return -errno;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}

void clinux_full_screen_stop(void) { kill(0, SIGTSTP); }
