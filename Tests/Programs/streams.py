"""What the helper programs share: dialling (also through SOCKS5), listening, data that can be recognised."""
import ipaddress
import resource
import signal
import socket
import struct


def patient():
    """Lets a program hold as many descriptors as the system allows, and end quietly."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def counter_bytes(count):
    """`count` bytes of big-endian 32-bit numbers 0, 1, 2 …"""
    words = (count + 3) // 4
    return struct.pack(f">{words}I", *range(words))[:count]


def linger_reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def listen(address, port, backlog=4096):
    listener = socket.socket(family(address), socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(backlog)
    return listener


def dial(to, socks, about, within=40, receive_buffer=None):
    """Connects, through a SOCKS5 server if one is named. Returns the socket, or None and the cause in `about`."""
    address, port = socks or to
    connection = socket.socket(family(address), socket.SOCK_STREAM)
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(within)
    about["opened"] = False
    try:
        connection.connect((address, port))
        if socks:
            about["reply"] = socks_connect(connection, *to)
            if about["reply"] != 0:
                about["cause"] = "reply"
                return None
    except socket.timeout:
        about["cause"] = "timeout"
        return None
    except ConnectionRefusedError:
        about["cause"] = "refused"
        return None
    except OSError as error:
        about["cause"] = "reset" if isinstance(error, ConnectionResetError) else str(error)
        return None
    about["opened"] = True
    return connection


def socks_connect(connection, host, port):
    """One SOCKS5 CONNECT (RFC 1928); returns the reply's code."""
    connection.sendall(b"\x05\x01\x00")
    if exactly(connection, 2) != b"\x05\x00":
        raise OSError("the SOCKS server wants more than no authentication")
    try:
        address = ipaddress.ip_address(host)
        target = (b"\x01" if address.version == 4 else b"\x04") + address.packed
    except ValueError:
        target = b"\x03" + bytes([len(host)]) + host.encode()
    connection.sendall(b"\x05\x01\x00" + target + struct.pack(">H", port))
    head = exactly(connection, 4)
    exactly(connection, {1: 6, 4: 18}[head[3]])
    return head[1]


def exactly(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise ConnectionResetError("the SOCKS server ended the connection")
        data += piece
    return data
