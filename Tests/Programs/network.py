"""What the tests of routes send and answer.

    network.py serve PORT                TCP and UDP, both families: answers "seen ADDRESS PORT", then echoes
    network.py ask HOST PORT [tcp|udp] [MARK]   prints the answer, or how it failed and after how long
    network.py session HOST PORT SECONDS        prints "open", then how many echoes came, until "lost" or "end"
    network.py datagrams HOST PORT SECONDS      one every 50 ms from one port: prints each answer, or how it failed
    network.py talk PORT SECONDS         a server that speaks first, every 50 ms, to whoever connects
    network.py listen HOST PORT SECONDS  prints "open", then how many lines came, until "lost" or "end"
    network.py mss HOST PORT             opens a connection and prints the segment size that it may send
    network.py advertise INTERFACE       sends one router advertisement
"""

import socket
import struct
import sys
import threading
import time


def family_of(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def plain(address):
    return address[0].removeprefix("::ffff:")


def both_families(kind, port):
    server = socket.socket(socket.AF_INET6, kind)
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("::", port))
    return server


def echo(connection, peer):
    with connection:
        connection.sendall(f"seen {plain(peer)} {peer[1]}\n".encode())
        while data := connection.recv(4096):
            connection.sendall(data)


def serve(port):
    def datagrams():
        server = both_families(socket.SOCK_DGRAM, port)
        # The answer comes from the address that was asked.
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        while True:
            _, about, _, peer = server.recvmsg(4096, 256)
            server.sendmsg([f"seen {plain(peer)} {peer[1]}\n".encode()], about, 0, peer)

    threading.Thread(target=datagrams, daemon=True).start()
    server = both_families(socket.SOCK_STREAM, port)
    server.listen(64)
    print("ready", flush=True)
    while True:
        connection, peer = server.accept()
        threading.Thread(target=echo, args=(connection, peer), daemon=True).start()


def ask(host, port, kind="tcp", mark=0):
    start = time.monotonic()
    try:
        with socket.socket(family_of(host), socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as client:
            client.settimeout(2)
            if int(mark, 0) if isinstance(mark, str) else mark:
                client.setsockopt(socket.SOL_SOCKET, 36, int(mark, 0))
            if kind == "udp":
                # Every ICMP error counts (IP_RECVERR, IPV6_RECVERR), not only "port unreachable".
                client.setsockopt(*((41, 25, 1) if ":" in host else (0, 11, 1)))
            client.connect((host, port))
            if kind == "udp":
                client.send(b"?")
            print(client.recv(4096).decode().strip())
    except OSError as error:
        name = "timeout" if isinstance(error, TimeoutError) else type(error).__name__
        print(f"failed {name} {error.errno} {int((time.monotonic() - start) * 1000)} ms")


def session(host, port, seconds):
    with socket.create_connection((host, port), timeout=3) as client:
        client.recv(4096)
        print("open", flush=True)
        count = 0
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                client.sendall(b"x")
                if client.recv(1) != b"x":
                    raise ConnectionError("end of stream")
                count += 1
                print(count, flush=True)
                time.sleep(0.05)
            print("end", flush=True)
        except OSError as error:
            print("lost", type(error).__name__, flush=True)


def datagrams(host, port, seconds):
    end = time.monotonic() + seconds
    with socket.socket(family_of(host), socket.SOCK_DGRAM) as client:
        client.settimeout(0.2)
        client.connect((host, port))
        while time.monotonic() < end:
            try:
                client.send(b"?")
                print(client.recv(4096).decode().strip(), flush=True)
            except OSError as error:
                print("failed", type(error).__name__, flush=True)
            time.sleep(0.05)


def talk(port, seconds):
    server = both_families(socket.SOCK_STREAM, port)
    server.listen(8)
    print("ready", flush=True)

    def speak(connection):
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                connection.sendall(b"line\n")
                time.sleep(0.05)
        except OSError as error:
            print("lost", type(error).__name__, flush=True)
        connection.close()

    while True:
        connection, _ = server.accept()
        threading.Thread(target=speak, args=(connection,), daemon=True).start()


def listen(host, port, seconds):
    with socket.create_connection((host, port), timeout=3) as client:
        print("open", flush=True)
        end = time.monotonic() + seconds
        count = 0
        try:
            while time.monotonic() < end:
                if not client.recv(4096):
                    raise ConnectionError("end of stream")
                count += 1
                print(count, flush=True)
            print("end", flush=True)
        except OSError as error:
            print("lost", type(error).__name__, flush=True)


def mss(host, port):
    with socket.create_connection((host, port), timeout=3) as client:
        client.recv(4096)
        print(client.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG))


def advertise(interface):
    """RFC 4861, section 4.2: current hop limit 64, no flags, lifetime 1800 s, with our link address."""
    sender = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
    with open(f"/sys/class/net/{interface}/address") as file:
        link = bytes.fromhex(file.read().strip().replace(":", ""))
    body = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0) + b"\x01\x01" + link
    sender.sendto(body, ("ff02::1", 0, 0, socket.if_nametoindex(interface)))


command, *arguments = sys.argv[1:]
if command == "serve":
    serve(int(arguments[0]))
elif command == "ask":
    ask(arguments[0], int(arguments[1]), *arguments[2:])
elif command == "session":
    session(arguments[0], int(arguments[1]), float(arguments[2]))
elif command == "datagrams":
    datagrams(arguments[0], int(arguments[1]), float(arguments[2]))
elif command == "talk":
    talk(int(arguments[0]), float(arguments[1]))
elif command == "listen":
    listen(arguments[0], int(arguments[1]), float(arguments[2]))
elif command == "mss":
    mss(arguments[0], int(arguments[1]))
elif command == "advertise":
    advertise(arguments[0])
