#!/usr/bin/python3
"""Joins standard input and output to a connection through a SOCKS5 server: ssh's ProxyCommand.

    pipe.py HOST PORT SOCKS-ADDRESS:PORT
"""
import os
import socket
import sys
import threading

from streams import dial


def up(connection):
    while data := os.read(0, 65536):
        connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


address, port = sys.argv[3].rsplit(":", 1)
about = {}
connection = dial([sys.argv[1], int(sys.argv[2])], [address, int(port)], about, 20)
if not connection:
    sys.exit(f"not open: {about}")
connection.settimeout(None)
threading.Thread(target=up, args=(connection,), daemon=True).start()
while data := connection.recv(65536):
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]
