/* A terminal that is lent to a full-screen program, and given back whatever ends that program.
 *
 * There is one such terminal in a process. SIGKILL and SIGSTOP aside, each signal that ends a process by a fault
 * (SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP) gives it back first; a handler can't be written in
 * Swift, which does not say what is safe within one. */
#ifndef CLINUX_FULLSCREEN_H
#define CLINUX_FULLSCREEN_H

#include <stddef.h>

/* Puts the terminal of standard input into raw mode and shows the other buffer of that of standard output.
 * `enter` and `leave` are what to write there; they are copied, and hold at most 64 octets.
 * Returns 0 or a negative errno. Entering what is entered already writes `enter` once more. */
int clinux_full_screen_enter(const char *enter, const char *leave);

/* Gives the terminal back; where it was not taken nothing happens. Keys that nobody has read are dropped: they were not
 * meant for the shell. */
void clinux_full_screen_leave(void);

/* The size of the terminal of standard output. Returns 0 or a negative errno. */
int clinux_full_screen_size(int *columns, int *rows);

/* Stops the process as the terminal's own key would have, and returns when it is continued. */
void clinux_full_screen_stop(void);

#endif
