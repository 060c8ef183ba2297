#!/usr/bin/python3
"""Uploads to a server that reads nothing for a while: what is sent meanwhile waits on the way.

    stall.py serve ADDRESS PORT SECONDS      the server; it reads what a connection has sent after so long, and says
                                             how much that was, with its SHA-256
    stall.py upload HOST PORT COUNT OCTETS   so many connections at once, so many octets on each
"""
import asyncio
import hashlib
import json
import random
import socket
import sys

from streams import listen, patient


async def serve(address, port, seconds):
    async def one(reader, writer):
        try:
            await asyncio.sleep(seconds)
            total, count = hashlib.sha256(), 0
            while data := await reader.read(1 << 16):
                total.update(data)
                count += len(data)
            writer.write(f"{count} {total.hexdigest()}\n".encode())
            await writer.drain()
        except OSError:
            pass
        writer.close()

    listener = listen(address, port)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    server = await asyncio.start_server(one, sock=listener, limit=1 << 14)
    print("ready", flush=True)
    await server.serve_forever()


async def upload(host, port, count, octets):
    async def one(number):
        data = random.Random(number).randbytes(octets)
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(data)
        writer.write_eof()
        answer = (await asyncio.wait_for(reader.read(), 90)).decode()
        writer.close()
        return "right" if answer == f"{octets} {hashlib.sha256(data).hexdigest()}\n" else f"wrong: {answer[:20]}"

    results = {}
    for result in await asyncio.gather(*(one(number) for number in range(count)), return_exceptions=True):
        name = result if isinstance(result, str) else type(result).__name__
        results[name] = results.get(name, 0) + 1
    print(json.dumps(results), flush=True)


patient()
verb, host, *numbers = sys.argv[1:]
asyncio.run({"serve": serve, "upload": upload}[verb](host, *map(int, numbers)))
