#!/usr/bin/python3
"""The lab's web server: pages, uploads, a git repository's files and a WebSocket echo, over HTTP/1.1 and HTTP/2.

    origin.py CERTIFICATE KEY DIRECTORY --plain ADDRESS:PORT ... --secure ADDRESS:PORT ...
"""
import argparse
import asyncio
import json
import pathlib
import signal
from hashlib import sha256

from hypercorn.asyncio import serve
from hypercorn.config import Config

from streams import counter_bytes

directory = pathlib.Path()


async def body_of(receive):
    while True:
        message = await receive()
        yield message.get("body", b"")
        if not message.get("more_body"):
            return


async def answer(send, status, body, kind=b"text/plain"):
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def page(scope, receive, send):
    total, count = sha256(), 0
    async for piece in body_of(receive):
        total.update(piece)
        count += len(piece)
    path = scope["path"]
    if path == "/":
        await answer(send, 200, b"A page from the lab's origin\n")
    elif path == "/upload":
        await answer(send, 200, f"{count} {total.hexdigest()}\n".encode())
    elif path == "/about":
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        about = {"method": scope["method"], "version": scope["http_version"], "headers": headers, "count": count}
        await answer(send, 200, json.dumps(about).encode() + b"\n", b"application/json")
    elif path.startswith("/bytes/"):
        await answer(send, 200, counter_bytes(int(path.split("/")[2])), b"application/octet-stream")
    else:
        file = (directory / path.lstrip("/")).resolve()
        if directory in file.parents and file.is_file():
            await answer(send, 200, file.read_bytes(), b"application/octet-stream")
        else:
            await answer(send, 404, b"no such page\n")


async def echo(receive, send):
    while True:
        message = await receive()
        if message["type"] == "websocket.connect":
            await send({"type": "websocket.accept"})
        elif message["type"] == "websocket.receive":
            text, data = message.get("text"), message.get("bytes")
            await send({"type": "websocket.send", "text": text, "bytes": data})
        else:
            return


async def application(scope, receive, send):
    if scope["type"] == "http":
        await page(scope, receive, send)
    elif scope["type"] == "websocket":
        await echo(receive, send)


async def main():
    global directory
    reader = argparse.ArgumentParser()
    reader.add_argument("certificate")
    reader.add_argument("key")
    reader.add_argument("directory", type=pathlib.Path)
    reader.add_argument("--plain", nargs="*", default=[])
    reader.add_argument("--secure", nargs="*", default=[])
    wanted = reader.parse_args()
    directory = wanted.directory.resolve()

    config = Config()
    config.certfile, config.keyfile = wanted.certificate, wanted.key
    config.bind, config.insecure_bind = wanted.secure, wanted.plain
    config.alpn_protocols = ["h2", "http/1.1"]
    config.keep_alive_timeout = 60
    config.graceful_timeout = 0
    config.websocket_max_message_size = 1 << 24
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await serve(application, config, shutdown_trigger=ended.wait)


if __name__ == "__main__":
    asyncio.run(main())
