#!/usr/bin/python3
"""A small proxy on this machine with the conduct that a test wants.

    conduct.py '{"map": {"site.example:443": 4433}, "refuse": [80], ...}'

It prints its port. Keys: map (host:port to a port of this machine), refuse (ports that CONNECT gets 403 for), own (false:
ports that are not mapped are refused), head (more lines of a yes), glue (octets behind a yes), newline, login ("user:pw"),
schemes (of its 407), rejects (its status for a wrong login, where that is another), half (false: a tunnel ends with either end), early (a yes before the host is known), idle (seconds
that a silent tunnel lives), eat (first octets of a server that are lost), page (to whoever takes it for a web server),
socks (true: it speaks that instead), mute (true: it accepts and is silent).
"""
import base64
import json
import socket
import sys
import threading
import time

conduct = json.loads(sys.argv[1])
newline = conduct.get("newline", "\r\n")


def reply(connection, status, fields=(), body=""):
    lines = [f"HTTP/1.1 {status}", *fields, f"Content-Length: {len(body)}", "", body]
    connection.sendall(newline.join(lines).encode())


def connect(host, port):
    """A connection to a host; None where there is none."""
    place = f"{host}:{port}"
    is_own = host in ("127.0.0.1", "localhost") and conduct.get("own", True)
    if place not in conduct.get("map", {}) and not is_own:
        return None
    try:
        return socket.create_connection(("127.0.0.1", conduct.get("map", {}).get(place, port)), 5)
    except OSError:
        return None


def carry(source, target, eat=0):
    """One direction; at its end the other one is told, or ended."""
    try:
        source.settimeout(conduct.get("idle"))
        while data := source.recv(65536):
            lost, eat = min(eat, len(data)), max(0, eat - len(data))
            target.sendall(data[lost:])
        if conduct.get("half", True):
            target.shutdown(socket.SHUT_WR)
            return
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def tunnel(connection, far):
    up = threading.Thread(target=carry, args=(connection, far), daemon=True)
    up.start()
    carry(far, connection, conduct.get("eat", 0))
    up.join()


def head(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return ""
        data += more
    return data.decode()


def http(connection):
    request = head(connection)
    if not request:
        return
    method, target = request.split(" ")[:2]
    print("request", json.dumps(request), flush=True)
    if not target.startswith("http://") and method != "CONNECT":
        return reply(connection, "400 Bad Request", body=conduct.get("page", "not a web server"))
    if wanted := conduct.get("login"):
        shown = base64.b64encode(wanted.encode()).decode()
        if f"proxy-authorization: basic {shown.lower()}" not in request.lower():
            if "proxy-authorization: " in request.lower() and "rejects" in conduct:
                return reply(connection, conduct["rejects"])
            fields = [f"Proxy-Authenticate: {scheme}" for scheme in conduct.get("schemes", ['Basic realm="r"'])]
            return reply(connection, "407 Login", fields)
    if method != "CONNECT":
        return reply(connection, "200 OK", body="a page")
    host, port = target.rsplit(":", 1)
    if int(port) in conduct.get("refuse", []):
        return reply(connection, "403 Forbidden", body="not this port")
    early = conduct.get("early", False)
    yes = ["HTTP/1.1 200 Connection established", *conduct.get("head", []), "", conduct.get("glue", "")]
    if early:
        connection.sendall(newline.join(yes).encode())
    far = connect(host, int(port))
    if not far:
        if not early:
            reply(connection, "502 Bad Gateway", body="no such host")
        return
    if not early:
        connection.sendall(newline.join(yes).encode())
    tunnel(connection, far)


def socks(connection):
    methods = connection.recv(257)
    wanted = conduct.get("login")
    if methods[:1] != b"\5":
        return
    if wanted and 2 not in methods[2:]:
        return connection.sendall(b"\5\xff")
    connection.sendall(b"\5\2" if wanted else b"\5\0")
    if wanted:
        login = connection.recv(513)
        user = login[2 : 2 + login[1]]
        password = login[3 + login[1] :]
        right = user + b":" + password == wanted.encode()
        connection.sendall(b"\1\0" if right else b"\1\1")
        if not right:
            return
    request = connection.recv(512)
    if request[3] == 3:
        host = request[5 : 5 + request[4]].decode()
    else:
        host = socket.inet_ntoa(request[4:8])
    far = connect(host, int.from_bytes(request[-2:], "big"))
    connection.sendall(b"\5" + (b"\0" if far else b"\4") + b"\0\1\0\0\0\0\0\0")
    if far:
        tunnel(connection, far)


def serve(connection):
    with connection:
        try:
            if conduct.get("mute"):
                time.sleep(60)
            elif conduct.get("socks"):
                socks(connection)
            else:
                http(connection)
        except OSError:
            pass


listener = socket.create_server(("127.0.0.1", 0))
print("port", listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
