#define _GNU_SOURCE
#include "Datagrams.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

/* Room for either family's packet information; a control buffer has to be aligned like its header. */
union control {
    char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
    struct cmsghdr header;
};

static void find_local(struct msghdr *message, struct clinux_local_address *local) {
    memset(local, 0, sizeof *local);
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            local->family = AF_INET;
            local->interface = (uint32_t)info.ipi_ifindex;
            memcpy(local->octets, &info.ipi_spec_dst, 4);
        } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            local->family = AF_INET6;
            local->interface = (uint32_t)info.ipi6_ifindex;
            memcpy(local->octets, &info.ipi6_addr, 16);
        }
    }
}

ssize_t clinux_receive_datagram(int fd, void *bytes, size_t capacity, struct sockaddr_storage *peer,
                                struct clinux_local_address *local) {
    union control control;
    struct iovec vector = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message = {.msg_name = peer,
                             .msg_namelen = sizeof *peer,
                             .msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t count = recvmsg(fd, &message, MSG_TRUNC);
    if (count >= 0) find_local(&message, local);
    return count;
}

static void name_local(struct msghdr *message, const struct clinux_local_address *local) {
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    if (local->family == AF_INET) {
        struct in_pktinfo info = {.ipi_ifindex = (int)local->interface};
        memcpy(&info.ipi_spec_dst, local->octets, 4);
        part->cmsg_level = IPPROTO_IP;
        part->cmsg_type = IP_PKTINFO;
        part->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(part), &info, sizeof info);
        message->msg_controllen = CMSG_SPACE(sizeof info);
    } else {
        struct in6_pktinfo info = {.ipi6_ifindex = local->interface};
        memcpy(&info.ipi6_addr, local->octets, 16);
        part->cmsg_level = IPPROTO_IPV6;
        part->cmsg_type = IPV6_PKTINFO;
        part->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(part), &info, sizeof info);
        message->msg_controllen = CMSG_SPACE(sizeof info);
    }
}

ssize_t clinux_send_datagram(int fd, const void *bytes, size_t count, const struct sockaddr *peer, socklen_t length,
                             const struct clinux_local_address *local) {
    union control control;
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_name = (void *)peer, .msg_namelen = length, .msg_iov = &vector, .msg_iovlen = 1};
    if (local) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        name_local(&message, local);
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}
