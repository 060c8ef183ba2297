#!/bin/sh
# What udhcpc calls with what a DHCP server has said (-s): the device takes all of it, and says it in one line:
# address/prefix, router, name server, server.
# shellcheck disable=SC2154
set -e
[ "$1" = bound ] || exit 0
ip address add "$ip/$mask" dev "$interface"
ip route replace default via "$router" dev "$interface"
echo "leased $ip/$mask router $router dns $dns from $serverid"
