"""What the tests of names and routes send and answer.

    routes.py serve ADDRESS...           HTTP on port 80 and whatever comes first on 443 are answered "peer ADDRESS NAME";
                                         port 22 speaks first
    routes.py browse NAME SERVER SECONDS a page of a name every 50 ms on one connection; one that breaks is opened anew,
                                         with another look-up: prints "TIME peer ADDRESS NAME" or "TIME broken CAUSE"
    routes.py hello ADDRESS PORT NAME    sends a ClientHello that names NAME and prints the answer
    routes.py talk ADDRESS SECONDS       a word every 50 ms on one connection to port 443: "peer ADDRESS", or "broken CAUSE"
    routes.py many COUNT SERVER          looks up so many names, n0.example and so on, and prints their addresses
    routes.py socks PROXY PORT NAME [80] CONNECT to a port of NAME by SOCKS5: prints the reply code, or "closed"
    routes.py proxy ADDRESS PORT         an HTTP proxy that prints each request line and refuses it
"""

import errno
import http.client
import http.server
import random
import select
import socket
import ssl
import struct
import sys
import threading
import time


def family_of(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"peer {self.client_address[0]} {self.headers['Host']}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def pages(address):
    class Server(http.server.ThreadingHTTPServer):
        address_family = family_of(address)
        daemon_threads = True

    Server((address, 80), Page).serve_forever()


def greet(address, port, is_first):
    def talk(connection, peer):
        with connection:
            if is_first:
                connection.sendall(b"SSH-2.0-lab\r\n")
            while data := connection.recv(16384):
                if not is_first:
                    connection.sendall(f"peer {peer[0]} {len(data)}\n".encode())

    server = socket.create_server((address, port), family=family_of(address))
    while True:
        threading.Thread(target=talk, args=server.accept(), daemon=True).start()


def serve(addresses):
    for address in addresses:
        threading.Thread(target=pages, args=(address,), daemon=True).start()
        threading.Thread(target=greet, args=(address, 22, True), daemon=True).start()
        threading.Thread(target=greet, args=(address, 443, False), daemon=True).start()
    time.sleep(0.3)
    print("ready", flush=True)
    threading.Event().wait()


def look_up(name, server):
    """The first IPv4 address that the answer holds (RFC 1035, section 4)."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    query = struct.pack("!6H", random.randrange(65536), 0x100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"
    with socket.socket(family_of(server), socket.SOCK_DGRAM) as client:
        client.settimeout(2)
        client.connect((server, 53))
        client.send(query)
        answer = client.recv(4096)
    place = len(query)
    for _ in range(struct.unpack("!H", answer[6:8])[0]):
        while answer[place] not in (0, *range(0xC0, 0x100)):
            place += answer[place] + 1
        place += 1 if answer[place] == 0 else 2
        kind, _, _, length = struct.unpack("!HHIH", answer[place : place + 10])
        if kind == 1:
            return socket.inet_ntoa(answer[place + 10 : place + 14])
        place += 10 + length
    raise OSError("no address")


def browse(name, server, seconds):
    end = time.monotonic() + float(seconds)
    connection = None
    while time.monotonic() < end:
        try:
            if connection is None:
                connection = http.client.HTTPConnection(look_up(name, server), 80, timeout=3)
            connection.request("GET", "/", headers={"Host": name})
            print(f"{time.time():.3f} {connection.getresponse().read().decode().strip()}", flush=True)
            time.sleep(0.05)
        except (OSError, http.client.HTTPException) as error:
            print(f"{time.time():.3f} broken {type(error).__name__}", flush=True)
            connection = None
            time.sleep(0.02)


def hello(address, port, name):
    context = ssl.create_default_context()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    try:
        with socket.create_connection((address, int(port)), timeout=3) as client:
            client.sendall(outgoing.read())
            print(client.recv(4096).decode().strip())
    except OSError as error:
        print(f"failed {type(error).__name__}")


def talk(address, seconds):
    end = time.monotonic() + float(seconds)
    try:
        with socket.create_connection((address, 443), timeout=3) as client:
            while time.monotonic() < end:
                client.sendall(b"x")
                print(" ".join(client.recv(4096).decode().split()[:2]) or "broken", flush=True)
                time.sleep(0.05)
    except OSError as error:
        print(f"broken {type(error).__name__}", flush=True)


def wait(address, seconds):
    """A stream that says one thing and then nothing; what ends it is printed."""
    with socket.create_connection((address, 443), timeout=3) as client:
        client.sendall(b"x")
        client.recv(4096)
        print("open", flush=True)
        client.settimeout(float(seconds))
        try:
            print("closed" if client.recv(1) == b"" else "data", flush=True)
        except ConnectionResetError:
            print("reset", flush=True)


def pending(address, count):
    """Opens many streams whose upstream says nothing, and prints what becomes of them."""
    sockets = []
    for _ in range(int(count)):
        client = socket.socket(family_of(address), socket.SOCK_STREAM)
        client.setblocking(False)
        client.connect_ex((address, 443))
        sockets.append(client)
    print("pending", flush=True)
    end, refused = time.monotonic() + 10, 0
    while sockets and time.monotonic() < end:
        for client in select.select([], sockets, [], 0.1)[1]:
            refused += client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED
            sockets.remove(client)
    print(f"{refused} refused, {len(sockets)} pending", flush=True)


def silent(address, port):
    """A proxy that takes connections and says nothing."""
    server = socket.create_server((address, int(port)), backlog=128)
    print("ready", flush=True)
    held = []
    while True:
        held.append(server.accept())


def many(count, server):
    for number in range(int(count)):
        try:
            print(look_up(f"n{number}.example", server))
        except OSError:
            print("none")


def socks(proxy, port, name, target_port=80):
    """RFC 1928, section 4: what looks like an address goes as one."""
    for kind, family in ((1, socket.AF_INET), (4, socket.AF_INET6)):
        try:
            target = bytes([kind]) + socket.inet_pton(family, name)
            break
        except OSError:
            target = bytes([3, len(name.encode())]) + name.encode()
    with socket.create_connection((proxy, int(port)), timeout=3) as client:
        client.sendall(b"\5\1\0" + b"\5\1\0" + target + struct.pack("!H", int(target_port)))
        answer = client.makefile("rb").read(4)
        print(answer[3] if len(answer) == 4 else "closed")


def proxy(address, port):
    server = socket.create_server((address, int(port)))
    print("ready", flush=True)
    while True:
        connection, _ = server.accept()
        with connection:
            print(connection.makefile("rb").readline().decode().strip(), flush=True)
            connection.sendall(b"HTTP/1.1 502 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


COMMANDS = {
    "browse": browse, "hello": hello, "talk": talk, "wait": wait, "pending": pending, "silent": silent,
    "many": many, "socks": socks, "proxy": proxy}

if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2:])
    else:
        COMMANDS[sys.argv[1]](*sys.argv[2:])
