#!/usr/bin/env python3
"""Makes a proxy of the user's own reachable in the lab of scripts/run.

    upstream.py URL ADDRESS DIRECTORY     write DIRECTORY/upstream.json5 (and the password's file); print what it is
    upstream.py --relay URL ADDRESS       accept at ADDRESS, at the proxy's port, and hand over to the proxy
"""
import json
import os
import socket
import sys
import threading
from urllib.parse import unquote, urlsplit


def parts(text):
    """The proxy's type, host, port, user and password; the latter two percent-decoded once."""
    try:
        url = urlsplit(text)
        kind = {"http": "http", "socks5": "socks5", "socks5h": "socks5"}[url.scheme]
        host, port = url.hostname, url.port or {"http": 8080, "socks5": 1080}[kind]
        if not host or url.path.strip("/") or url.query:
            raise ValueError
    except (ValueError, KeyError):
        sys.exit(f"scripts/run: not a proxy's URL: {text.rsplit('@', 1)[-1]}\n"
                 "    http://[user:password@]host:port or socks5://[user:password@]host:port")
    user = None if url.username is None else unquote(url.username)
    return kind, host, port, user, unquote(url.password or "")


def write(text, address, directory):
    kind, host, port, user, password = parts(text)
    upstream = {"type": kind, "host": address, "port": port}
    if user is not None:
        file = os.path.join(directory, "password")
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(password)
        upstream.update(user=user, passwordFile=file)
    profile = {"id": "try", "name": "Your own proxy", "upstream": upstream}
    configuration = {
        "tun": {"name": "starship0"}, "network": {"setup": "none"}, "socks": {"listen": "127.0.0.1:10808"},
        "profiles": [profile], "active": "try"}
    with open(os.path.join(directory, "upstream.json5"), "w", encoding="utf-8") as out:
        json.dump(configuration, out, indent=2)
    print(f"{'CONNECT' if kind == 'http' else 'SOCKS5'} ── your proxy {host}:{port} ── the net")


def pump(source, target):
    try:
        while data := source.recv(262144):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for side in (source, target):
            side.close()


def hand_over(client, host, port):
    try:
        proxy = socket.create_connection((host, port), 10)
        proxy.settimeout(None)
    except OSError as error:
        print(f"scripts/run: your proxy {host}:{port}: {error}", file=sys.stderr)
        client.close()
        return
    for pair in ((client, proxy), (proxy, client)):
        threading.Thread(target=pump, args=pair, daemon=True).start()


def relay(text, address):
    _, host, port, _, _ = parts(text)
    listener = socket.create_server((address, port))
    while True:
        client, _ = listener.accept()
        threading.Thread(target=hand_over, args=(client, host, port), daemon=True).start()


if __name__ == "__main__":
    if sys.argv[1] == "--relay":
        relay(*sys.argv[2:])
    else:
        write(*sys.argv[1:])
