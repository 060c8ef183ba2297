/* What Swift cannot see of Linux: macros that compute, variadic calls, and headers outside Glibc's module.
 *
 * Each function takes plain arguments and returns 0 (or a descriptor) or a negative errno, unless it says
 * otherwise. Nothing here allocates, retries or decides anything. */
#ifndef CLINUX_H
#define CLINUX_H

#include "Datagrams.h"
#include "FullScreen.h"
#include "Lockdown.h"
#include "Packets.h"

#include <linux/fib_rules.h>
#include <linux/if_tun.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Linux 6.2; older headers lack them. */
#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

/* Attaches an open tun descriptor to an interface (TUNSETIFF).
 * `name` holds at least 16 bytes, NUL included, and is overwritten with the name that the kernel chose. */
int clinux_tun_attach(int descriptor, char *name, unsigned flags);

/* What this kernel's tun driver can do, as IFF_ bits (TUNGETFEATURES), or a negative errno. */
int clinux_tun_features(int descriptor);

/* Sets the length of the virtio-net header before each packet (TUNSETVNETHDRSZ). */
int clinux_tun_set_header_length(int descriptor, int length);

/* Sets how many packets an interface's queue holds (SIOCSIFTXQLEN). */
int clinux_set_queue_length(const char *name, int packets);

/* Says which TUN_F_ offloads the reader of the descriptor can take (TUNSETOFFLOAD). */
int clinux_tun_set_offload(int descriptor, unsigned long offload);

/* The MTU of an interface of this network namespace, or a negative errno. */
int clinux_interface_mtu(const char *name);

/* The packets that wait in an interface before it drops (txqueuelen), or a negative errno. */
int clinux_interface_queue_length(const char *name);

/* Waits for events until `seconds` and `nanoseconds` have passed; for ever when `seconds` is negative.
 * Returns the number of events, or a negative errno: -ENOSYS where the kernel (below 5.11) lacks the call. */
int clinux_epoll_wait_precisely(int poller, struct epoll_event *events, int capacity, int64_t seconds,
                                int64_t nanoseconds);

/* accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC. Returns a descriptor or a negative errno. */
int clinux_accept(int listener, struct sockaddr *address, socklen_t *length);

/* Where the peer of an accepted connection of this family wanted to go before a firewall redirected it here
 * (SO_ORIGINAL_DST, IP6T_SO_ORIGINAL_DST). Returns 0 or a negative errno. */
int clinux_original_destination(int descriptor, int family, struct sockaddr *address, socklen_t *length);

/* Who is at the other end of a connected Unix socket (SO_PEERCRED). Returns 0 or a negative errno. */
int clinux_peer_credentials(int descriptor, uint32_t *user, uint32_t *group, int32_t *process);

/* Whether the kernel's calendar is disciplined by something (adjtimex without STA_UNSYNC): 1 or 0. */
int clinux_clock_is_synchronised(void);

/* Blocks the `count` signals for this thread and those that it starts, and returns a descriptor that
 * reads them, or a negative errno. */
int clinux_signals(const int *numbers, int count);

/* Ends this process by a signal, as if it had never been blocked or handled. */
_Noreturn void clinux_end_by_signal(int number);

/* Ignores SIGPIPE in the whole process: a closed peer is an error of its write. */
void clinux_ignore_broken_pipes(void);

/* Moves this thread into the network namespace that `descriptor` is open on. */
int clinux_enter_network_namespace(int descriptor);

/* Moves this thread into a network namespace of its own, new and empty but for "lo". */
int clinux_make_network_namespace(void);

/* How late the kernel may wake this thread to save power; 50 microseconds unless set. */
void clinux_set_timer_slack(unsigned long nanoseconds);

/* Runs a program found on PATH, with the signals that a program expects (none blocked, SIGPIPE deadly), and
 * waits for it. Returns its exit status, 128 + number of the signal that ended it, or a negative errno. */
int clinux_run(char *const *arguments);

/* As clinux_run, with the three standard streams given as descriptors and a bound on the time.
 * A program that is still running by then is killed, and the result is -ETIMEDOUT. */
int clinux_run_with(char *const *arguments, int input, int output, int errors, int milliseconds);

/* A file without a name that lives in memory. Returns a descriptor or a negative errno. */
int clinux_memory_file(void);

/* Opens a netlink socket of a protocol that is a member of `groups`, a mask. Returns a descriptor or a negative
 * errno. */
int clinux_netlink(int protocol, unsigned groups, int is_blocking);

/* Opens a path with O_CLOEXEC and further flags. Returns a descriptor or a negative errno. */
int clinux_open(const char *path, int flags, unsigned mode);

/* Text of an error number; lives for ever. NULL for an unknown number. */
const char *clinux_error_text(int number);

/* Starts a thread that runs `body` on `context`; `identity` is for pthread_join unless it is detached.
 * Returns 0, or a negative errno, and then `body` does not run. */
int clinux_start_thread(size_t stack_size, int is_detached, void *(*body)(void *), void *context,
                        pthread_t *identity);

/* Names this thread for ps, top and gdb; longer names are cut to 15 bytes. */
void clinux_name_thread(const char *name);

/* Bounds the arenas of malloc, and sets from which size on free memory at the top of the heap goes back. */
void clinux_tune_malloc(int arenas, int trim_threshold);

/* Gives free memory of malloc back to the system. */
void clinux_trim_malloc(void);

/* Gives back the mapped pages of code and constants; what is still used comes back from the page cache when it is. */
void clinux_release_code(void);

/* How many processors this process may run on; 1 where the kernel does not say, or has more than 1,024. */
int clinux_processors(void);

/* Opens a non-blocking pipe, ends[0] for reading, and asks for a capacity. */
int clinux_pipe(int *ends, int capacity);

/* Moves up to `limit` bytes between a pipe and a socket without waiting (splice). Returns the number of bytes,
 * or -1 with errno. */
ssize_t clinux_splice(int source, int target, size_t limit);

/* The octets in a socket's send queue (SIOCOUTQ), or a negative errno. */
int clinux_unsent_bytes(int fd);

#endif
