#!/usr/bin/python3
"""The virtual devices: each has an address of its own and does one thing after the other, until SIGTERM.

    devices.py FIRST-ADDRESS COUNT GATEWAY SEED

Each thing has an outcome, counted by kind: `right` (done, and every octet as it had to be), `wrong` (done, and not), or
why it was not done. The counts are printed as a line of JSON each second. SIGUSR1 has every device reset what it has
open, as if the apps were killed. SIGUSR2 says that a proxy is being killed, whose kernel ends in order what it carried.
"""
import asyncio
import collections
import contextlib
import hashlib
import ipaddress
import json
import math
import os
import random
import signal
import socket
import struct
import sys
import time

from wire import block, digest, pieces, resets_on_close

NAMES = [f"n{number}.soak.example" for number in range(50)]
DIRECT_NAMES = [f"d{number}.direct.example" for number in range(100)]
SOCKS_PORT = 10808
# What takes longer is hanging: no fault lasts so long.
PATIENCE = 30
# For so long the end of a stream may be the work of a proxy that was killed.
AFTERMATH = 10


class Wrong(Exception):
    """Something came that should not have."""


def query(name, kind=1):
    """A question for an address (RFC 1035, section 4.1)."""
    number = random.getrandbits(16)
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return number, struct.pack("!HHHHHH", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)


def answered(message, number):
    """The first address of an answer; None where it has none."""
    if len(message) < 12 or struct.unpack("!H", message[:2])[0] != number:
        raise Wrong("an answer to another question")
    flags, _, answers = struct.unpack("!HHH", message[2:8])
    if not flags & 0x8000:
        raise Wrong("a question for an answer")
    if flags & 15 or answers == 0:
        return None
    place = 12
    while message[place]:
        place += message[place] + 1
    place += 5
    for _ in range(answers):
        # Names in answers are pointers here, and else skipped label by label.
        while message[place] and message[place] < 192:
            place += message[place] + 1
        place += 2 if message[place] >= 192 else 1
        kind, _, _, length = struct.unpack("!HHIH", message[place:place + 10])
        place += 10
        if kind == 1:
            return str(ipaddress.ip_address(message[place:place + 4]))
        place += length
    return None


class Device:
    def __init__(self, address, gateway, seed, counts):
        self.address, self.gateway, self.counts = address, gateway, counts
        self.random = random.Random(seed)
        self.open = set()
        # What kill_all has ended, so that its end is not taken for the other side's; and when a proxy was killed.
        self.aborted = set()
        self.proxy_killed = -math.inf
        self.loop = asyncio.get_running_loop()

    # What it does

    async def live(self):
        things = [(self.down, 30), (self.up, 20), (self.talk, 15), (self.ask, 15), (self.aborts, 6), (self.broken, 3),
                  (self.idles, 3), (self.datagrams, 6), (self.refused_datagram, 2)]
        await asyncio.sleep(self.random.uniform(0, 2))
        while True:
            thing = self.random.choices([one for one, _ in things], [weight for _, weight in things])[0]
            await self.does(thing)
            await asyncio.sleep(self.random.expovariate(1))

    async def does(self, thing):
        try:
            await asyncio.wait_for(thing(), PATIENCE + (25 if thing == self.idles else 0))
            outcome = "right"
        except Wrong as error:
            outcome = "wrong"
            print(f"{self.address}: {thing.__name__}: {error}", file=sys.stderr, flush=True)
        except (asyncio.TimeoutError, TimeoutError):
            outcome = "timeout"
        except ConnectionRefusedError:
            outcome = "refused"
        except ConnectionResetError:
            outcome = "reset"
        except EOFError:
            outcome = "cut"
        except OSError as error:
            outcome = os.strerror(error.errno) if error.errno else str(error)
        self.counts[thing.__name__][outcome] += 1

    def size(self):
        """Mostly small, now and then some megabytes."""
        return int(math.exp(self.random.uniform(math.log(200), math.log(3 << 20))))

    async def down(self):
        count, seed = self.size(), self.random.getrandbits(20)
        async with self.stream() as connection:
            await self.loop.sock_sendall(connection, f"down {count} {seed}\n".encode())
            total, got = hashlib.sha256(), 0
            while data := await self.loop.sock_recv(connection, 1 << 16):
                total.update(data)
                got += len(data)
            if got < count:
                raise EOFError
            if total.hexdigest() != digest(count, seed):
                raise Wrong(f"{got} octets for {count}, or not those")

    async def up(self):
        count, seed = self.size(), self.random.getrandbits(20)
        async with self.stream() as connection:
            await self.loop.sock_sendall(connection, f"up {count}\n".encode())
            for piece in pieces(count, seed):
                await self.loop.sock_sendall(connection, piece)
            connection.shutdown(socket.SHUT_WR)
            answer = await self.rest(connection)
            if not answer.endswith(b"\n"):
                raise EOFError
            if answer.decode() != f"{count} {digest(count, seed)}\n":
                raise Wrong(f"{count} octets went up, and {answer[:20]} came")

    async def talk(self, pauses=()):
        data = block(self.random.getrandbits(16))
        async with self.stream() as connection:
            await self.loop.sock_sendall(connection, b"echo\n")
            for pause in pauses or [0] * self.random.randint(1, 20):
                word = data[: self.random.randint(1, 2000)]
                await asyncio.sleep(pause)
                await self.loop.sock_sendall(connection, word)
                if await self.exactly(connection, len(word)) != word:
                    raise Wrong("another echo")
            connection.shutdown(socket.SHUT_WR)
            if await self.rest(connection):
                raise Wrong("an echo of nothing")

    async def idles(self):
        await self.talk([0, self.random.uniform(5, 25)])

    async def aborts(self):
        """A reset at a random point of the connection's life, before it is open included."""
        task = asyncio.ensure_future(self.random.choice([self.down, self.up, self.talk])())
        await asyncio.wait({task}, timeout=self.random.expovariate(20))
        if task.done():
            return task.result()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def broken(self):
        """A download that the server resets, which must not look like a whole one."""
        count = self.size()
        got = 0
        async with self.stream() as connection:
            await self.loop.sock_sendall(connection, f"break {count} 1\n".encode())
            try:
                while data := await self.loop.sock_recv(connection, 1 << 16):
                    got += len(data)
            except ConnectionResetError:
                return
            if got < count or connection in self.aborted or self.loop.time() < self.proxy_killed + AFTERMATH:
                raise EOFError
            raise Wrong("a reset of the server came as an end")

    async def ask(self):
        name = self.random.choice(NAMES + DIRECT_NAMES)
        if self.random.random() < 0.2:
            return await self.ask_by_stream(name)
        await self.resolve(name)

    async def ask_by_stream(self, name):
        number, message = query(name)
        async with self.connected(self.gateway, 53) as connection:
            await self.loop.sock_sendall(connection, struct.pack("!H", len(message)) + message)
            length = struct.unpack("!H", await self.exactly(connection, 2))[0]
            answered(await self.exactly(connection, length), number)

    async def datagrams(self):
        """Some exchanges over a port that is carried (NTP), to a fake address."""
        address, sent = await self.resolve(self.random.choice(NAMES)), []
        with self.datagram_socket(address, 123) as outside:
            for _ in range(self.random.randint(1, 4)):
                word = self.random.randbytes(self.random.randint(8, 1200))
                sent.append(word)
                # A link that doubles brings an earlier answer once more.
                while (answer := await self.exchange(outside, word)) != word:
                    if answer not in sent:
                        raise Wrong("another datagram")

    async def refused_datagram(self):
        """QUIC is refused at once."""
        address = await self.resolve(self.random.choice(NAMES))
        with self.datagram_socket(address, 443) as outside:
            try:
                await self.exchange(outside, b"\xc0" * 1200)
            except ConnectionRefusedError:
                return
            raise Wrong("QUIC got through")

    # How

    @contextlib.asynccontextmanager
    async def stream(self):
        """A connection by the tunnel, or by SOCKS5 with a name."""
        name, port = self.random.choice(NAMES), self.random.choice([443, 7000])
        if self.random.random() < 0.2:
            async with self.connected(self.gateway, SOCKS_PORT) as connection:
                await self.loop.sock_sendall(
                    connection, b"\5\1\0\5\1\0\3" + bytes([len(name)]) + name.encode() + struct.pack("!H", port))
                reply = await self.exactly(connection, 12)
                if reply[:2] != b"\5\0":
                    raise Wrong("no SOCKS5")
                if reply[3]:
                    raise OSError(0, f"SOCKS5 {reply[3]}")
                yield connection
            return
        async with self.connected(await self.resolve(name), port) as connection:
            yield connection

    @contextlib.asynccontextmanager
    async def connected(self, address, port):
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.open.add(connection)
        try:
            connection.setblocking(False)
            connection.bind((self.address, 0))
            await self.loop.sock_connect(connection, (address, port))
            yield connection
        except asyncio.CancelledError:
            resets_on_close(connection)
            raise
        finally:
            self.open.discard(connection)
            self.aborted.discard(connection)
            connection.close()

    async def resolve(self, name):
        for attempt in range(3):
            with self.datagram_socket(self.gateway, 53) as outside:
                number, message = query(name)
                with contextlib.suppress(asyncio.TimeoutError):
                    found = answered(await asyncio.wait_for(self.exchange(outside, message), 3), number)
                    if found is None:
                        raise OSError(0, "no address")
                    return found
        raise OSError(0, "no answer of DNS")

    def datagram_socket(self, address, port):
        outside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        outside.setblocking(False)
        outside.bind((self.address, 0))
        outside.connect((address, port))
        return outside

    async def exchange(self, outside, data):
        """Sends a datagram up to three times, and returns the answer."""
        for attempt in range(3):
            await self.loop.sock_sendall(outside, data)
            with contextlib.suppress(asyncio.TimeoutError):
                return await asyncio.wait_for(self.loop.sock_recv(outside, 65_536), 2)
        raise OSError(0, "no answer by UDP")

    async def exactly(self, connection, count):
        data = b""
        while len(data) < count:
            piece = await self.loop.sock_recv(connection, count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    async def rest(self, connection):
        data = b""
        while piece := await self.loop.sock_recv(connection, 1 << 16):
            data += piece
        return data

    def kill_all(self):
        for connection in self.open:
            with contextlib.suppress(OSError):
                resets_on_close(connection)
                self.aborted.add(connection)
                connection.shutdown(socket.SHUT_RD)


async def main(first, count, gateway, seed):
    loop = asyncio.get_running_loop()
    counts = collections.defaultdict(collections.Counter)
    start = int(ipaddress.ip_address(first))
    devices = [Device(str(ipaddress.ip_address(start + number)), gateway, seed * 1000 + number, counts)
               for number in range(int(count))]
    tasks = [asyncio.create_task(device.live()) for device in devices]
    over, started = asyncio.Event(), time.time()
    loop.add_signal_handler(signal.SIGTERM, over.set)

    def abort():
        for device in devices:
            device.kill_all()

    def note_death():
        for device in devices:
            device.proxy_killed = loop.time()

    loop.add_signal_handler(signal.SIGUSR1, abort)
    loop.add_signal_handler(signal.SIGUSR2, note_death)
    while not over.is_set():
        print(json.dumps({"started": started, "counts": counts}), flush=True)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(over.wait(), 1)
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if not isinstance(result, asyncio.CancelledError):
            raise result
    print(json.dumps({"started": started, "counts": counts}), flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
