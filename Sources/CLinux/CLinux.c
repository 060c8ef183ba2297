#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <string.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6/ip6_tables.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int result(int value) { return value < 0 ? -errno : value; }

int clinux_tun_attach(int descriptor, char *name, unsigned flags) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    request.ifr_flags = (short)flags;
    if (ioctl(descriptor, TUNSETIFF, &request) < 0) return -errno;
    memcpy(name, request.ifr_name, IFNAMSIZ);
    name[IFNAMSIZ - 1] = 0;
    return 0;
}

int clinux_tun_features(int descriptor) {
    unsigned features = 0;
    if (ioctl(descriptor, TUNGETFEATURES, &features) < 0) return -errno;
    return (int)(features & 0xffff);
}

int clinux_tun_set_header_length(int descriptor, int length) {
    return result(ioctl(descriptor, TUNSETVNETHDRSZ, &length));
}

int clinux_tun_set_offload(int descriptor, unsigned long offload) {
    return result(ioctl(descriptor, TUNSETOFFLOAD, offload));
}

/* Asks about an interface; the answer is in the request. */
static int ask_interface(unsigned long question, const char *name, struct ifreq *request) {
    memset(request, 0, sizeof *request);
    if (strlen(name) >= IFNAMSIZ) return -ENODEV;
    strcpy(request->ifr_name, name);
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (any < 0) return -errno;
    int failure = ioctl(any, question, request) < 0 ? -errno : 0;
    close(any);
    return failure;
}

int clinux_interface_mtu(const char *name) {
    struct ifreq request;
    int failure = ask_interface(SIOCGIFMTU, name, &request);
    return failure ? failure : request.ifr_mtu;
}

int clinux_interface_queue_length(const char *name) {
    struct ifreq request;
    int failure = ask_interface(SIOCGIFTXQLEN, name, &request);
    return failure ? failure : request.ifr_ifindex;
}

int clinux_set_queue_length(const char *name, int packets) {
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (any < 0) return -errno;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    request.ifr_qlen = packets;
    int failure = ioctl(any, SIOCSIFTXQLEN, &request) < 0 ? -errno : 0;
    close(any);
    return failure;
}

int clinux_epoll_wait_precisely(int poller, struct epoll_event *events, int capacity, int64_t seconds,
                                int64_t nanoseconds) {
#ifdef SYS_epoll_pwait2
    struct timespec timeout = {.tv_sec = seconds, .tv_nsec = nanoseconds};
    return result((int)syscall(SYS_epoll_pwait2, poller, events, capacity, seconds < 0 ? NULL : &timeout, NULL, 0));
#else
    return -ENOSYS;
#endif
}

int clinux_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return result(accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int clinux_original_destination(int descriptor, int family, struct sockaddr *address, socklen_t *length) {
    int isIPv4 = family == AF_INET;
    int level = isIPv4 ? IPPROTO_IP : IPPROTO_IPV6;
    return result(getsockopt(descriptor, level, isIPv4 ? SO_ORIGINAL_DST : IP6T_SO_ORIGINAL_DST, address, length));
}

int clinux_peer_credentials(int descriptor, uint32_t *user, uint32_t *group, int32_t *process) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -errno;
    *user = peer.uid;
    *group = peer.gid;
    *process = peer.pid;
    return 0;
}

int clinux_clock_is_synchronised(void) {
    struct timex clock = {0};
    return adjtimex(&clock) >= 0 && !(clock.status & STA_UNSYNC);
}

int clinux_signals(const int *numbers, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int index = 0; index < count; index++) sigaddset(&set, numbers[index]);
    int failure = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (failure) return -failure;
    return result(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

_Noreturn void clinux_end_by_signal(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    _exit(128 + number);
}

void clinux_ignore_broken_pipes(void) { signal(SIGPIPE, SIG_IGN); }

int clinux_enter_network_namespace(int descriptor) { return result(setns(descriptor, CLONE_NEWNET)); }

int clinux_make_network_namespace(void) { return result(unshare(CLONE_NEWNET)); }

void clinux_set_timer_slack(unsigned long nanoseconds) { prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0); }

/* Starts a program with the signals that a program expects; `streams` are its standard streams, or NULL. */
static int spawn(char *const *arguments, const int *streams, pid_t *child) {
    sigset_t set;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int number = 0; streams && number < 3; number++)
        posix_spawn_file_actions_adddup2(&actions, streams[number], number);
    posix_spawnattr_init(&attributes);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &set);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int failure = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -failure;
}

/* Waits for a child's end. Returns its exit status, 128 + number of the signal that ended it, or a negative errno. */
static int reap(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int clinux_run(char *const *arguments) {
    pid_t child;
    int failure = spawn(arguments, NULL, &child);
    return failure ? failure : reap(child);
}

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int clinux_run_with(char *const *arguments, int input, int output, int errors, int milliseconds) {
    pid_t child;
    int failure = spawn(arguments, (const int[]){input, output, errors}, &child);
    if (failure) return failure;
    int64_t deadline = milliseconds_now() + milliseconds;
    int process = (int)syscall(SYS_pidfd_open, child, 0);
    for (;;) {
        siginfo_t ended = {0};
        if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT | WNOHANG) == 0 && ended.si_pid == child) break;
        int64_t left = deadline - milliseconds_now();
        if (left <= 0) {
            kill(child, SIGKILL);
            reap(child);
            if (process >= 0) close(process);
            return -ETIMEDOUT;
        }
        /* Without pidfd_open (below Linux 5.3, or in a sandbox) it is looked for again and again. */
        struct pollfd event = {.fd = process, .events = POLLIN};
        poll(&event, process >= 0, process >= 0 || left < 2 ? (int)left : 2);
    }
    if (process >= 0) close(process);
    return reap(child);
}

int clinux_memory_file(void) { return result(memfd_create("tool", MFD_CLOEXEC)); }

int clinux_netlink(int protocol, unsigned groups, int is_blocking) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | (is_blocking ? 0 : SOCK_NONBLOCK), protocol);
    if (fd < 0) return -errno;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        int failure = -errno;
        close(fd);
        return failure;
    }
    return fd;
}

int clinux_open(const char *path, int flags, unsigned mode) { return result(open(path, flags | O_CLOEXEC, mode)); }

const char *clinux_error_text(int number) { return strerrordesc_np(number); }

int clinux_start_thread(size_t stack_size, int is_detached, void *(*body)(void *), void *context,
                        pthread_t *identity) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    pthread_attr_setdetachstate(&attributes, is_detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    int failure = pthread_create(identity, &attributes, body, context);
    pthread_attr_destroy(&attributes);
    return -failure;
}

void clinux_name_thread(const char *name) {
    char cut[16];
    strncpy(cut, name, sizeof cut - 1);
    cut[sizeof cut - 1] = 0;
    pthread_setname_np(pthread_self(), cut);
}

void clinux_tune_malloc(int arenas, int trim_threshold) {
    mallopt(M_ARENA_MAX, arenas);
    mallopt(M_TRIM_THRESHOLD, trim_threshold);
}

void clinux_trim_malloc(void) { malloc_trim(0); }

static int release_code(struct dl_phdr_info *object, size_t size, void *page) {
    uintptr_t mask = *(const uintptr_t *)page - 1;
    (void)size;
    /* The program itself has no name, a library a path; the kernel's own object (vdso) is left alone. */
    if (object->dlpi_name[0] && object->dlpi_name[0] != '/') return 0;
    for (int number = 0; number < object->dlpi_phnum; number++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[number];
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        uintptr_t start = (object->dlpi_addr + part->p_vaddr) & ~mask;
        uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_memsz) & ~mask;
        if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void clinux_release_code(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(release_code, &page);
}

int clinux_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int clinux_pipe(int *ends, int capacity) {
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) < 0) return -errno;
    /* A smaller pipe works as well. */
    fcntl(ends[1], F_SETPIPE_SZ, capacity);
    return 0;
}

ssize_t clinux_splice(int source, int target, size_t limit) {
    return splice(source, NULL, target, NULL, limit, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

int clinux_unsent_bytes(int fd) {
    int count = 0;
    return ioctl(fd, SIOCOUTQ, &count) == 0 ? count : -errno;
}
