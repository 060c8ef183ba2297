"""What stands where a proxy or a page should be: each port of 10.77.0.2 has a fault of its own.

    faults.py serve

    8101  accepts and says nothing          8105  502 to CONNECT
    8102  accepts and closes                8106  200 to CONNECT, then noise
    8103  403 to CONNECT, in HTML           8107  noise without end
    8104  407 with Basic                    8108  200 to CONNECT, then closes
    8110  a page: 302 to a login            8111  a page: 200, after three seconds
    8112  a page: 200 with other words      8113  a page: 204
"""

import socket
import threading
import time

ADDRESS = "10.77.0.2"
HELLO = b"HTTP/1.1 200 Connection established\r\n\r\n"


def answer(status, fields=b"", body=b""):
    return b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, fields, len(body), body)


def head(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(4096)
        if not piece:
            return b""
        data += piece
    return data


def silent(connection):
    while connection.recv(4096):
        pass


def closes(connection):
    pass


def says(text):
    def speak(connection):
        if head(connection):
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            silent(connection)

    return speak


def slow(connection):
    if head(connection):
        time.sleep(3)
        connection.sendall(answer(b"200 OK", body=b"peer late\n"))


def noise(connection):
    head(connection)
    try:
        while True:
            connection.sendall(b"\x16\x03\x01 no proxy at all \xff" * 2048)
    except OSError:
        pass


def closes_behind(connection):
    if head(connection):
        connection.sendall(HELLO)


FAULTS = {
    8101: silent,
    8102: closes,
    8103: says(answer(b"403 Forbidden", b"Content-Type: text/html\r\n", b"<html><title>Not for you</title></html>")),
    8104: says(answer(b"407 Proxy Authentication Required", b'Proxy-Authenticate: Basic realm="lab"\r\n')),
    8105: says(answer(b"502 Bad Gateway", body=b"no route to the origin")),
    8106: says(HELLO + b"\x00\x01\x02 this is no HTTP\r\n\r\n"),
    8107: noise,
    8108: closes_behind,
    8110: says(answer(b"302 Found", b"Location: http://login.hotel.example/\r\n")),
    8111: slow,
    8112: says(answer(b"200 OK", body=b"please log in\n")),
    8113: says(answer(b"204 No Content")),
}


def serve(listener, fault):
    def one(connection):
        with connection:
            try:
                fault(connection)
            except OSError:
                pass

    while True:
        connection, _ = listener.accept()
        connection.settimeout(60)
        threading.Thread(target=one, args=(connection,), daemon=True).start()


for port, fault in FAULTS.items():
    threading.Thread(
        target=serve, args=(socket.create_server((ADDRESS, port), backlog=64), fault), daemon=True
    ).start()
print("ready", flush=True)
threading.Event().wait()
