/* Giving up what the process does not need: capabilities, new privileges, system calls; and the child that keeps
 * some of it.
 *
 * As in CLinux.h, each function returns 0 (or a descriptor, or a number) or a negative errno. */
#ifndef CLINUX_LOCKDOWN_H
#define CLINUX_LOCKDOWN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Leaves this thread the capabilities of a mask (bit 12 is CAP_NET_ADMIN) that it has: permitted and effective are cut
 * to `kept`, inheritable to `inheritable`, the bounding set to `bounding` where CAP_SETPCAP allows that. */
int clinux_keep_capabilities(uint64_t kept, uint64_t inheritable, uint64_t bounding);

/* Lets the signal of the next function come through on this thread and on those that it starts: whoever started the
 * process may have blocked it. */
int clinux_admit_capabilities_signal(void);

/* Has a signal do the same, with nothing inheritable and no bounding set, on the thread that gets it.
 * Returns the signal's number. One call at a time; `clinux_ignore_signal` is its end. */
int clinux_keep_capabilities_on_signal(uint64_t kept);
int clinux_signal_thread(pid_t thread, int number);
void clinux_ignore_signal(int number);

/* No program that this thread or a descendant runs gains privileges by running (PR_SET_NO_NEW_PRIVS). */
int clinux_refuse_new_privileges(void);

/* Installs a seccomp filter (instructions as in linux/filter.h) for all threads, those of the future too.
 * A positive result is the thread that could not take it. */
int clinux_install_filter(const void *instructions, unsigned short count, unsigned flags);

/* fork(2); for a process with a single thread. */
pid_t clinux_fork(void);

/* Makes a new child a companion of `parent`: it is killed when the thread that forked it ends, is in a session of its
 * own, has no signal interrupt it, and leaves the standard streams alone. */
int clinux_become_companion(pid_t parent, const char *name);

/* A connected pair of Unix stream sockets, closed when a program is run. */
int clinux_socket_pair(int *ends);

/* Sends bytes with a descriptor beside them, or with none (-1). Returns how many were sent. */
ssize_t clinux_send_with_descriptor(int fd, const void *bytes, size_t count, int passed);

/* Receives bytes, and the descriptor that came beside them: -1 where none did. A program that is run inherits it. */
ssize_t clinux_receive_with_descriptor(int fd, void *bytes, size_t count, int *passed);

/* How a child ended: its exit status, 128 + number of the signal, or -EAGAIN while it runs. */
int clinux_ending(pid_t child);

/* Bounds how long receiving from and sending to a socket waits. */
int clinux_bound_waiting(int fd, int seconds);

#endif
