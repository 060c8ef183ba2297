#!/usr/bin/python3
"""Moves many bytes one way and compares the SHA-256 of what left with what arrived.

    transfer.py serve ADDRESS PORT [ADDRESS PORT ...]
    transfer.py up|down COUNT HOST PORT [SOCKS-ADDRESS SOCKS-PORT]

The client's first line is `> COUNT` (up) or `< COUNT` (down): nothing that a proxy takes for HTTP. Up: the server answers
with the sum after COUNT bytes. Down: it sends COUNT bytes, then the sum. Both ends close after that; nobody half-closes
before, so any proxy may be between.
"""
import json
import random
import socket
import sys
import threading
import time
from hashlib import sha256

from streams import dial, listen, patient

SIZE = 1 << 20


def pieces(count):
    """Yields `count` bytes as views of a block of noise, rotated a little further each time."""
    block = random.Random(53).randbytes(SIZE)
    twice, number = memoryview(block + block), 0
    while count > 0:
        start = number * 4099 % SIZE
        length = min(count, SIZE)
        yield twice[start : start + length]
        count -= length
        number += 1


def send(connection, count):
    total = sha256()
    for piece in pieces(count):
        connection.sendall(piece)
        total.update(piece)
    return total.hexdigest()


def receive(connection, count, already=b""):
    total, buffer = sha256(already), memoryview(bytearray(SIZE))
    left = count - len(already)
    while left > 0:
        got = connection.recv_into(buffer, min(left, SIZE))
        if got == 0:
            raise OSError(f"the stream ended {left} bytes early")
        total.update(buffer[:got])
        left -= got
    return total.hexdigest()


def line(connection):
    data = b""
    while b"\n" not in data:
        piece = connection.recv(4096)
        if not piece:
            raise OSError("the stream ended before a line")
        data += piece
    first, rest = data.split(b"\n", 1)
    return first.decode(), rest


def answer(connection):
    try:
        with connection:
            connection.settimeout(300)
            request, rest = line(connection)
            direction, count = request.split()
            if direction == ">":
                connection.sendall(receive(connection, int(count), rest).encode() + b"\n")
            else:
                connection.sendall(send(connection, int(count)).encode() + b"\n")
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)
    except (OSError, ValueError) as error:
        print(f"transfer: {error}", file=sys.stderr, flush=True)


def accept(address, port):
    listener = listen(address, port)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def serve(arguments):
    places = list(zip(arguments[::2], map(int, arguments[1::2])))
    for place in places[1:]:
        threading.Thread(target=accept, args=place, daemon=True).start()
    accept(*places[0])


def client(direction, count, host, port, socks):
    about = {"bytes": count, "equal": False}
    began = time.monotonic()
    connection = dial([host, port], socks, about)
    if connection:
        try:
            connection.settimeout(120)
            connection.sendall(f"{'>' if direction == 'up' else '<'} {count}\n".encode())
            if direction == "up":
                ours = send(connection, count)
            else:
                ours = receive(connection, count)
            theirs, _ = line(connection)
            about["equal"] = ours == theirs
            about["ended"] = "fin" if connection.recv(1) == b"" else "data"
        except OSError as error:
            about["failed"] = str(error)
    about["seconds"] = time.monotonic() - began
    print(json.dumps(about), flush=True)


if __name__ == "__main__":
    patient()
    if sys.argv[1] == "serve":
        serve(sys.argv[2:])
    else:
        socks = [sys.argv[5], int(sys.argv[6])] if len(sys.argv) > 5 else None
        client(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), socks)
