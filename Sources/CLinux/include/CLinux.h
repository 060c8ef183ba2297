/* What Swift cannot see of Linux: macros, variadic calls and headers outside Glibc's module. */
#ifndef CLINUX_H
#define CLINUX_H
#include <sys/epoll.h>
#endif
