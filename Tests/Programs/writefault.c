/* Preloaded into the daemon: every n-th write to the TUN device fails.
 *
 *   WRITEFAULT        EINVAL, ENOBUFS, EAGAIN or EINTR
 *   WRITEFAULT_EVERY  which of them fail: every so-manieth
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long count;

static int is_tunnel(int fd) {
    char link[64], target[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    return strcmp(target, "/dev/net/tun") == 0;
}

static int wanted(void) {
    const char *name = getenv("WRITEFAULT");
    if (!name) return 0;
    if (strcmp(name, "EINVAL") == 0) return EINVAL;
    if (strcmp(name, "ENOBUFS") == 0) return ENOBUFS;
    if (strcmp(name, "EAGAIN") == 0) return EAGAIN;
    return EINTR;
}

static int fails(int fd) {
    const char *every = getenv("WRITEFAULT_EVERY");
    long number = every ? atol(every) : 1000;
    return is_tunnel(fd) && atomic_fetch_add(&count, 1) % number == number - 1;
}

ssize_t write(int fd, const void *data, size_t length) {
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (fails(fd)) {
        errno = wanted();
        return -1;
    }
    return next(fd, data, length);
}

ssize_t writev(int fd, const struct iovec *parts, int number) {
    ssize_t (*next)(int, const struct iovec *, int) = dlsym(RTLD_NEXT, "writev");
    if (fails(fd)) {
        errno = wanted();
        return -1;
    }
    return next(fd, parts, number);
}
