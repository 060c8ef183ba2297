/* Packets of one link, past every address and route of this machine: packet(7). */
#ifndef CLINUX_PACKETS_H
#define CLINUX_PACKETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens a socket for the IPv4 packets of an interface, non-blocking and closed on exec. Returns a descriptor, or a
 * negative errno. */
int clinux_open_packets(uint32_t interface);

/* Sends an IPv4 packet to every machine of the interface's link. Returns its length, or -1 with errno. */
ssize_t clinux_broadcast_packet(int fd, uint32_t interface, const void *bytes, size_t count);

/* Reads the six octets of an Ethernet interface's address. Returns 0, or a negative errno (-EAFNOSUPPORT: it has none). */
int clinux_interface_address(const char *name, uint8_t *octets);

#endif
