#define _GNU_SOURCE
#include "Packets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int clinux_open_packets(uint32_t interface) {
    /* Protocol 0: nothing comes before the socket is tied to its interface. */
    int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    struct sockaddr_ll place = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = (int)interface};
    if (bind(fd, (const struct sockaddr *)&place, sizeof place) < 0) {
        int reason = errno;
        close(fd);
        return -reason;
    }
    return fd;
}

ssize_t clinux_broadcast_packet(int fd, uint32_t interface, const void *bytes, size_t count) {
    struct sockaddr_ll all = {.sll_family = AF_PACKET,
                              .sll_protocol = htons(ETH_P_IP),
                              .sll_ifindex = (int)interface,
                              .sll_halen = ETH_ALEN};
    memset(all.sll_addr, 0xff, ETH_ALEN);
    return sendto(fd, bytes, count, 0, (const struct sockaddr *)&all, sizeof all);
}

int clinux_interface_address(const char *name, uint8_t *octets) {
    struct ifreq request = {0};
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    int result = ioctl(fd, SIOCGIFHWADDR, &request);
    int reason = errno;
    close(fd);
    if (result < 0) return -reason;
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER) return -EAFNOSUPPORT;
    memcpy(octets, request.ifr_hwaddr.sa_data, ETH_ALEN);
    return 0;
}
