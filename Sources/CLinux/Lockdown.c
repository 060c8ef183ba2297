#define _GNU_SOURCE
#include "Lockdown.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int result(int value) { return value < 0 ? -errno : value; }

/* Safe in a signal handler: system calls alone. */
int clinux_keep_capabilities(uint64_t kept, uint64_t inheritable, uint64_t bounding) {
    /* While CAP_SETPCAP is still there; beyond the last capability the kernel says EINVAL. */
    for (unsigned long number = 0; number < 64; number++)
        if (!(bounding >> number & 1) && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0) break;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &header, sets) < 0) return -errno;
    for (int half = 0; half < 2; half++) {
        sets[half].permitted &= (uint32_t)(kept >> 32 * half);
        sets[half].effective = sets[half].permitted;
        sets[half].inheritable &= (uint32_t)(inheritable >> 32 * half);
    }
    return result((int)syscall(SYS_capset, &header, sets));
}

/* A real-time signal that nobody else uses; the first ones are the C library's. */
static int capabilities_signal(void) { return SIGRTMAX - 1; }

int clinux_admit_capabilities_signal(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, capabilities_signal());
    return result(sigprocmask(SIG_UNBLOCK, &set, NULL));
}

static volatile uint64_t kept_on_signal;

static void keep_now(int number) {
    (void)number;
    int former = errno;
    clinux_keep_capabilities(kept_on_signal, 0, 0);
    errno = former;
}

int clinux_keep_capabilities_on_signal(uint64_t kept) {
    int number = capabilities_signal();
    kept_on_signal = kept;
    struct sigaction action = {.sa_handler = keep_now, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL) < 0 ? -errno : number;
}

int clinux_signal_thread(pid_t thread, int number) {
    return result((int)syscall(SYS_tgkill, getpid(), thread, number));
}

void clinux_ignore_signal(int number) { signal(number, SIG_IGN); }

int clinux_refuse_new_privileges(void) { return result(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)); }

int clinux_install_filter(const void *instructions, unsigned short count, unsigned flags) {
    struct sock_fprog program = {.len = count, .filter = (struct sock_filter *)instructions};
    return result((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

pid_t clinux_fork(void) { return result(fork()); }

int clinux_become_companion(pid_t parent, const char *name) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int number = 0; nowhere >= 0 && number < 3; number++) dup2(nowhere, number);
    if (nowhere > 2) close(nowhere);
    if (chdir("/") < 0) return -errno;
    prctl(PR_SET_NAME, name, 0, 0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) return -errno;
    /* It may have ended before it was asked for. */
    return getppid() == parent ? 0 : -ESRCH;
}

int clinux_socket_pair(int *ends) { return result(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)); }

union passed_space {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
};

ssize_t clinux_send_with_descriptor(int fd, const void *bytes, size_t count, int passed) {
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
    union passed_space beside;
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (passed >= 0) {
        memset(&beside, 0, sizeof beside);
        message.msg_control = &beside;
        message.msg_controllen = sizeof beside;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof passed);
        memcpy(CMSG_DATA(header), &passed, sizeof passed);
    }
    ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent;
}

ssize_t clinux_receive_with_descriptor(int fd, void *bytes, size_t count, int *passed) {
    struct iovec piece = {.iov_base = bytes, .iov_len = count};
    union passed_space beside;
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &beside, .msg_controllen = sizeof beside};
    *passed = -1;
    ssize_t got = recvmsg(fd, &message, 0);
    if (got < 0) return -errno;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof *passed))
        memcpy(passed, CMSG_DATA(header), sizeof *passed);
    return got;
}

int clinux_ending(pid_t child) {
    int status;
    /* waitpid would take these for "any child", and take somebody else's end away. */
    if (child <= 0) return -ECHILD;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended < 0) return -errno;
    if (ended == 0) return -EAGAIN;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int clinux_bound_waiting(int fd, int seconds) {
    struct timeval limit = {.tv_sec = seconds};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0) return -errno;
    return result(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
}
