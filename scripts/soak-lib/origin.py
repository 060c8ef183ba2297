#!/usr/bin/python3
"""The server behind the proxies: transfers by TCP, a page for health probes, an echo by UDP.

    origin.py ADDRESS...
"""
import asyncio
import hashlib
import sys

from wire import pieces, resets_on_close

PORTS = (80, 443, 7000)
ECHO_PORT = 123


async def down(writer, count, seed):
    for piece in pieces(count, seed):
        writer.write(piece)
        await writer.drain()


async def up(reader, writer, count):
    total, got = hashlib.sha256(), 0
    while data := await reader.read(1 << 16):
        total.update(data)
        got += len(data)
    writer.write(f"{got} {total.hexdigest()}\n".encode())
    await writer.drain()


async def echo(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()


async def serve(reader, writer):
    try:
        words = (await reader.readline()).split()
        if words[:1] == [b"GET"]:
            while (await reader.readline()).strip():
                pass
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n")
        elif words[:1] == [b"down"]:
            await down(writer, int(words[1]), int(words[2]))
        elif words[:1] == [b"break"]:
            await down(writer, int(words[1]), int(words[2]))
            resets_on_close(writer.get_extra_info("socket"))
            writer.transport.abort()
            return
        elif words[:1] == [b"up"]:
            await up(reader, writer, int(words[1]))
        elif words[:1] == [b"echo"]:
            await echo(reader, writer)
        if writer.can_write_eof():
            writer.write_eof()
        # The client closes after us; one that does not is not waited for without end.
        await asyncio.wait_for(reader.read(1), 30)
    except (OSError, EOFError, asyncio.TimeoutError, ValueError, IndexError):
        pass
    finally:
        writer.close()


class Echo(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        self.transport.sendto(data, address)


async def main(addresses):
    loop = asyncio.get_running_loop()
    for address in addresses:
        for port in PORTS:
            await asyncio.start_server(serve, address, port, backlog=1024)
        await loop.create_datagram_endpoint(Echo, local_addr=(address, ECHO_PORT))
    print("ready", flush=True)
    await asyncio.Event().wait()


asyncio.run(main(sys.argv[1:]))
