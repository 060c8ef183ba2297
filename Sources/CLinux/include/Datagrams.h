/* Datagrams with the local address that each came to or leaves from: control messages are read and written with
 * macros that Swift cannot see. */
#ifndef CLINUX_DATAGRAMS_H
#define CLINUX_DATAGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* One of this machine's addresses, in network order, and an interface (0: whichever the route says). */
struct clinux_local_address {
    int32_t family; /* AF_INET, AF_INET6, or 0 where it is not known */
    uint32_t interface;
    uint8_t octets[16];
};

/* Receives one datagram, whom it is from and where it came to. Returns its whole length, which is more than
 * `capacity` for one that was cut, or -1 with errno. */
ssize_t clinux_receive_datagram(int fd, void *bytes, size_t capacity, struct sockaddr_storage *peer,
                                struct clinux_local_address *local);

/* Sends one datagram to `peer` (NULL: where the socket is connected to) from `local` (NULL: the route's choice).
 * Returns its length, or -1 with errno. */
ssize_t clinux_send_datagram(int fd, const void *bytes, size_t count, const struct sockaddr *peer, socklen_t length,
                             const struct clinux_local_address *local);

#endif
