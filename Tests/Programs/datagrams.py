"""UDP between a device and a host outside.

    datagrams.py serve PORT SIZE ADDRESS...      answers every datagram with SIZE octets of its own
    datagrams.py ask ADDRESS PORT SIZE [whole]   sends SIZE octets, which nobody may cut if they are to stay whole, and
                                                 prints what came of it as JSON
    datagrams.py flows ADDRESS PORT COUNT RATE SOURCE...
                                                 sends one datagram on each of so many flows, so many a second, each with
                                                 a port of its own and from the sources in turn, and counts what came back
"""

import collections
import errno
import json
import select
import socket
import sys
import time

IP_MTU_DISCOVER, IP_MTU, IPV6_MTU_DISCOVER, IPV6_MTU = 10, 14, 23, 24
DONT, DO = 0, 2


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def serve(port, size, addresses):
    sockets = []
    for address in addresses:
        server = socket.socket(family(address), socket.SOCK_DGRAM)
        server.bind((address, port))
        sockets.append(server)
    print("ready", flush=True)
    while True:
        for server in select.select(sockets, [], [])[0]:
            try:
                data, peer = server.recvfrom(65535)
                server.sendto((f"{len(data)} " + "x" * size)[:size].encode(), peer)
            except OSError as error:
                print(error, file=sys.stderr, flush=True)


def ask(address, port, size, whole):
    client = socket.socket(family(address), socket.SOCK_DGRAM)
    is_ipv4 = client.family == socket.AF_INET
    level, discover, mtu = (
        (socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_MTU) if is_ipv4 else (socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_MTU)
    )
    client.setsockopt(level, discover, DO if whole else DONT)
    client.connect((address, port))
    client.settimeout(2)
    start = time.monotonic()
    result = {}
    try:
        client.send(b"q" * size)
        answer = client.recv(65535)
        result["heard"] = int(answer.split()[0])
        result["size"] = len(answer)
    except TimeoutError:
        result["error"] = "timeout"
    except OSError as error:
        result["error"] = errno.errorcode[error.errno]
    result["ms"] = int((time.monotonic() - start) * 1000)
    result["mtu"] = client.getsockopt(level, mtu)
    print(json.dumps(result))


def flows(address, port, count, rate, sources):
    results, waiting = collections.Counter(), collections.deque()
    begin = time.monotonic()

    def settle(before):
        while waiting and waiting[0][0] <= before:
            client = waiting.popleft()[1]
            try:
                client.recv(65535)
                results["answered"] += 1
            except BlockingIOError:
                results["silent"] += 1
            except OSError as error:
                results[errno.errorcode[error.errno]] += 1
            client.close()

    for number in range(count):
        client = socket.socket(family(address), socket.SOCK_DGRAM)
        client.setblocking(False)
        # A port that is used again would be the same flow.
        client.bind((sources[number % len(sources)], 10000 + number // len(sources)))
        client.connect((address, port))
        client.send(b"q" * 48)
        now = time.monotonic()
        waiting.append((now + 0.4, client))
        settle(now)
        time.sleep(max(0, begin + number / rate - now))
    time.sleep(1)
    settle(time.monotonic())
    results["seconds"] = int(time.monotonic() - begin)
    print(json.dumps(results))


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
elif sys.argv[1] == "flows":
    flows(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:])
else:
    ask(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), "whole" in sys.argv)
