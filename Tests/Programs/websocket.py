#!/usr/bin/python3
"""Opens a WebSocket over TLS, sends messages, checks that each comes back, and closes properly.

    websocket.py CA HOST PORT [SOCKS-ADDRESS SOCKS-PORT]
"""
import asyncio
import socket
import ssl
import sys

import websockets

from streams import counter_bytes, dial


async def main():
    authority, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    about = {}
    socks = [sys.argv[4], int(sys.argv[5])] if len(sys.argv) > 4 else None
    to = [host if socks else socket.gethostbyname(host), port]
    connection = dial(to, socks, about, 20)
    if not connection:
        sys.exit(f"not open: {about}")
    connection.setblocking(False)
    context = ssl.create_default_context(cafile=authority)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    async with websockets.connect(
        f"wss://{host}/socket", sock=connection, ssl=context, server_hostname=host, max_size=1 << 24
    ) as ws:
        for message in ["hello", "", "ü" * 1000, counter_bytes(1_000_000)]:
            await ws.send(message)
            back = await asyncio.wait_for(ws.recv(), 20)
            if back != message:
                sys.exit(f"a message of {len(message)} came back as {len(back)}")
    print("websocket: 4 messages came back")


asyncio.run(main())
