"""What both ends of the soak's transfers know: the pattern of the octets, and the requests.

A request is one line. `down COUNT SEED` has the server send so many octets and close; `up COUNT SEED` is followed by
the octets and by the client's half-close, and answered with their SHA-256; `echo` sends everything back; `break COUNT
SEED` is a download that the server resets on the way. The octets follow from the seed, so either end can check them.
"""
import hashlib
import random
import socket
import struct

BLOCK = 1 << 16


def block(seed):
    return random.Random(seed).randbytes(BLOCK)


def pieces(count, seed):
    """The octets of a transfer: one block from the seed, again and again, each time with its number in front."""
    body = block(seed)
    for number in range((count + BLOCK - 1) // BLOCK):
        piece = struct.pack("!I", number) + body[4:]
        yield piece[: count - number * BLOCK]


def digest(count, seed):
    total = hashlib.sha256()
    for piece in pieces(count, seed):
        total.update(piece)
    return total.hexdigest()


def resets_on_close(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
