#!/usr/bin/python3
"""Opens many connections to an echo server, well-behaved or not, and counts what became of them.

    load.py serve ADDRESS PORT                        the echo server
    load.py short HOST PORT COUNT AT-ONCE             connect, a byte each way, close
    load.py abort HOST PORT COUNT AT-ONCE SEED        reset at a random point of the connection's life
    load.py hold HOST PORT COUNT SECONDS              open all, hold them, a byte each way on each, close
    load.py paced HOST PORT RATE SECONDS              as `short`, so many a second whatever becomes of them; each that
                                                      fails is told with the times of its begin and end (Unix, s)
    load.py steady HOST PORT SECONDS                  one after the other, 20 ms apart; the slowest is what counts
"""
import asyncio
import collections
import json
import random
import socket
import sys
import time

from streams import family, linger_reset, listen, patient


async def connected(address, within):
    connection = socket.socket(family(address[0]), socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        await asyncio.wait_for(asyncio.get_running_loop().sock_connect(connection, address), within)
    except BaseException:
        connection.close()
        raise
    return connection


async def one_byte(connection, within=10):
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(connection, b"x")
    if await asyncio.wait_for(loop.sock_recv(connection, 1), within) != b"x":
        raise EOFError


def name(error):
    return {"TimeoutError": "timeout", "ConnectionRefusedError": "refused", "ConnectionResetError": "reset"}.get(
        type(error).__name__, str(error) or type(error).__name__
    )


async def many(count, at_once, one):
    results, slots, slowest = collections.Counter(), asyncio.Semaphore(at_once), 0.0
    refusals = []

    async def run(number):
        nonlocal slowest
        async with slots:
            began = time.monotonic()
            try:
                results[await one(number)] += 1
            except (OSError, EOFError, asyncio.TimeoutError) as error:
                results[name(error)] += 1
                if name(error) == "refused":
                    refusals.append(time.monotonic() - began)
            slowest = max(slowest, time.monotonic() - began)

    await asyncio.gather(*(run(number) for number in range(count)))
    return {"results": results, "slowest": slowest, "refusals": refusals}


async def short(address, count, at_once):
    async def one(_):
        connection = await connected(address, 10)
        with connection:
            await one_byte(connection)
        return "good"

    return await many(count, at_once, one)


async def abort(address, count, at_once, seed):
    chance = random.Random(seed)
    points = [(chance.randrange(6), chance.random() * 0.02) for _ in range(count)]
    loop = asyncio.get_running_loop()

    async def one(number):
        point, pause = points[number]
        connection = socket.socket(family(address[0]), socket.SOCK_STREAM)
        connection.setblocking(False)
        with connection:
            linger_reset(connection)
            try:
                connection.connect(address)
            except BlockingIOError:
                pass
            if point == 0:  # while it dials
                await asyncio.sleep(pause / 20)
                return "aborted"
            connection.close()
        connection = await connected(address, 10)
        with connection:
            linger_reset(connection)
            if point == 1:  # just open
                return "aborted"
            await loop.sock_sendall(connection, b"x" * 100_000 if point == 3 else b"x")
            if point == 2:  # the first byte under way
                await asyncio.sleep(pause)
                return "aborted"
            if point == 3:  # much under way, nothing read
                await asyncio.sleep(pause)
                return "aborted"
            await asyncio.wait_for(loop.sock_recv(connection, 1), 10)
            if point == 4:  # half closed
                connection.shutdown(socket.SHUT_WR)
                await asyncio.sleep(pause / 10)
            return "aborted"

    return await many(count, at_once, one)


async def hold(address, count, seconds):
    held, opening = [], time.monotonic()

    async def one(_):
        connection = await connected(address, 10)
        held.append(connection)
        await one_byte(connection, 10)
        return "good"

    about = await many(count, count, one)
    about["opening"] = time.monotonic() - opening
    print(json.dumps({"open": about["results"]["good"]}), flush=True)
    await asyncio.sleep(seconds)
    alive = 0
    for connection in held:
        try:
            await one_byte(connection, 2)
            alive += 1
        except (OSError, EOFError, asyncio.TimeoutError):
            pass
        connection.close()
    about["alive"] = alive
    return about


async def paced(address, rate, seconds):
    failures, good, tasks = [], 0, []

    async def one():
        nonlocal good
        began = time.time()
        try:
            connection = await connected(address, 10)
            with connection:
                loop = asyncio.get_running_loop()
                await loop.sock_sendall(connection, b"x")
                if not await asyncio.wait_for(loop.sock_recv(connection, 64), 10):
                    raise EOFError
            good += 1
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            failures.append({"began": began, "ended": time.time(), "why": name(error)})

    start = time.monotonic()
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0, start + number / rate - time.monotonic()))
        tasks.append(asyncio.create_task(one()))
    await asyncio.gather(*tasks)
    return {"good": good, "failures": failures}


async def steady(address, seconds):
    results, times, until = collections.Counter(), [], time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            with await connected(address, 5) as connection:
                await one_byte(connection, 5)
            results["good"] += 1
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            results[name(error)] += 1
        times.append(time.monotonic() - began)
        await asyncio.sleep(0.02)
    return {"results": results, "slowest": max(times)}


class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data)


async def serve(address, port):
    server = await asyncio.get_running_loop().create_server(Echo, sock=listen(address, port))
    await server.serve_forever()


async def main():
    verb, host, *numbers = sys.argv[1:]
    port, *numbers = map(int, numbers)
    if verb == "serve":
        await serve(host, port)
    work = {"short": short, "abort": abort, "hold": hold, "paced": paced, "steady": steady}[verb]
    print(json.dumps(await work((host, port), *numbers)), flush=True)


if __name__ == "__main__":
    patient()
    asyncio.run(main())
