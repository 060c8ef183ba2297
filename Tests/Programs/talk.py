#!/usr/bin/python3
"""Plays one side of a conversation over TCP, step by step, and says what it saw.

    talk.py proxy ADDRESS PORT < conversations.json     one list of steps for each connection, the last one repeats
    talk.py client < job.json                           {"to": [address, port], "socks": [address, port] or null,
                                                         "parallel": 1, "steps": [...]}

A proxy prints one JSON line for each connection that ended; a client one for each connection of its own. The text
of a step holds one character for each byte (Latin-1).
"""
import json
import re
import socket
import struct
import sys
import threading
import time
from hashlib import sha256

from streams import counter_bytes, dial, linger_reset, listen, patient


class Failed(Exception):
    pass


class Side:
    """One connection, what was received over it, and the steps."""

    def __init__(self, connection, about):
        self.connection = connection
        self.about = about
        self.waiting = b""
        self.received = bytearray()
        self.count = 0
        self.sum = sha256()
        self.ended = None
        about.update(heads=[], ended=None)

    # Reading

    def fill(self, deadline):
        """Reads once; False at the end of the stream."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise Failed("nothing within the time")
        self.connection.settimeout(left)
        try:
            data = self.connection.recv(262144)
        except socket.timeout:
            raise Failed("nothing within the time") from None
        except OSError as error:
            self.end("reset" if isinstance(error, ConnectionResetError) else str(error))
            return False
        if not data:
            self.end("fin")
            return False
        self.waiting += data
        return True

    def end(self, how):
        if self.ended is None:
            self.ended = how
            self.about["ended"] = how
            self.about["endedAt"] = time.time()

    def take(self, count):
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        self.count += len(taken)
        self.sum.update(taken)
        if len(self.received) < 65536:
            self.received += taken[:65536]
        return taken

    # Steps

    def expect(self, step):
        deadline = time.monotonic() + step.get("within", 10)
        while b"\r\n\r\n" not in self.waiting:
            if not self.fill(deadline):
                raise Failed("the stream ended before a whole head")
        head, self.waiting = self.waiting.split(b"\r\n\r\n", 1)
        text = (head + b"\r\n\r\n").decode("latin-1")
        self.about["heads"].append(text)
        if not re.search(step["pattern"], text):
            raise Failed(f"the head doesn't match {step['pattern']}")

    def receive(self, step):
        wanted = step["text"].encode("latin-1")
        began = time.monotonic()
        deadline = began + step.get("within", 10)
        while len(self.waiting) < len(wanted):
            if not self.fill(deadline):
                raise Failed(f"the stream ended ({self.ended}) after {self.waiting!r}, wanted {wanted!r}")
        got = self.take(len(wanted))
        if got != wanted:
            raise Failed(f"wanted {wanted!r}, got {got!r}")
        self.about["receiveSeconds"] = time.monotonic() - began

    def receive_bytes(self, step):
        count, rate = step["count"], step.get("rate", 0)
        deadline = time.monotonic() + step.get("within", 60)
        expected, began, got = counter_bytes(count), time.monotonic(), 0
        while got < count:
            if not self.waiting and not self.fill(deadline):
                raise Failed(f"the stream ended ({self.ended}) after {got} of {count} bytes")
            piece = self.take(min(count - got, 2048 if rate else count))
            if piece != expected[got : got + len(piece)]:
                raise Failed(f"the bytes differ somewhere in {got}..{got + len(piece)}")
            got += len(piece)
            if rate:
                time.sleep(max(0, began + got / rate - time.monotonic()))

    def receive_end(self, step):
        began = time.monotonic()
        deadline = began + step.get("within", 10)
        self.take(len(self.waiting))
        while self.ended is None and self.fill(deadline):
            self.take(len(self.waiting))
        self.about["endSeconds"] = time.monotonic() - began
        if "how" in step and self.ended != step["how"]:
            raise Failed(f"the stream ended by {self.ended}, wanted {step['how']}")

    def send(self, step):
        data = step["text"].encode("latin-1")
        size = step.get("chunk") or max(len(data), 1)
        for start in range(0, len(data), size):
            self.write(data[start : start + size])
            time.sleep(step.get("gap", 0))

    def send_bytes(self, step):
        if "fill" in step:
            self.write(step["fill"].encode("latin-1") * step["count"])
        else:
            self.write(counter_bytes(step["count"]))

    def write(self, data):
        self.connection.settimeout(60)
        try:
            self.connection.sendall(data)
        except socket.timeout:
            raise Failed("could not write within 60 s") from None
        except OSError as error:
            raise Failed(f"could not write: {error}") from None

    def pause(self, step):
        time.sleep(step["seconds"])

    def drip(self, step):
        until = time.monotonic() + step["seconds"]
        while time.monotonic() < until:
            self.write(step["text"].encode("latin-1"))
            time.sleep(step["every"])

    def echo(self, step):
        deadline = time.monotonic() + step.get("seconds", 3600)
        try:
            while True:
                if self.waiting:
                    self.write(self.take(len(self.waiting)))
                elif not self.fill(deadline):
                    return
        except Failed:
            return

    def ping_pong(self, step):
        times = []
        for number in range(step["count"]):
            data = struct.pack(">I", number)[-step["bytes"] :]
            began = time.monotonic()
            self.write(data)
            self.receive({"text": data.decode("latin-1")})
            times.append(time.monotonic() - began)
            time.sleep(step.get("gap", 0))
        times.sort()
        self.about["median"] = times[len(times) // 2]
        self.about["p99"] = times[len(times) * 99 // 100]

    def say(self, step):
        print(step["text"], file=sys.stderr, flush=True)

    def half_close(self, step):
        self.connection.shutdown(socket.SHUT_WR)

    def close(self, step):
        if step["how"] == "reset":
            linger_reset(self.connection)
        self.connection.close()

    def play(self, steps):
        names = {
            "expect": self.expect, "receive": self.receive, "receiveBytes": self.receive_bytes,
            "receiveEnd": self.receive_end, "send": self.send, "sendBytes": self.send_bytes, "pause": self.pause,
            "drip": self.drip, "say": self.say, "echo": self.echo, "pingPong": self.ping_pong, "halfClose": self.half_close,
            "close": self.close,
        }
        try:
            for number, step in enumerate(steps):
                self.about["step"] = number
                try:
                    names[step["do"]](step)
                except OSError as error:
                    raise Failed(str(error)) from None
        except Failed as reason:
            self.about["failed"] = f"step {self.about['step']} ({steps[self.about['step']]['do']}): {reason}"
        self.about.update(count=self.count, sha256=self.sum.hexdigest(), data=self.received.decode("latin-1"))


printing = threading.Lock()


def report(about):
    with printing:
        print(json.dumps(about), flush=True)


def proxy(address, port):
    conversations = json.load(sys.stdin)
    listener = listen(address, port)
    number = 0
    while True:
        connection, _ = listener.accept()
        steps = conversations[min(number, len(conversations) - 1)]
        threading.Thread(target=serve, args=(connection, number, steps), daemon=True).start()
        number += 1


def serve(connection, number, steps):
    about = {"number": number}
    side = Side(connection, about)
    side.play(steps)
    connection.close()
    report(about)


def client():
    job = json.load(sys.stdin)
    threads = [threading.Thread(target=talk, args=(job, number)) for number in range(job.get("parallel", 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def talk(job, number):
    about = {"number": number}
    began = time.monotonic()
    connection = dial(job["to"], job.get("socks"), about, job.get("within", 40), job.get("receiveBuffer"))
    about["openSeconds"] = time.monotonic() - began
    about["openedAt"] = time.time()
    if connection:
        side = Side(connection, about)
        side.play(job["steps"])
        connection.close()
    report(about)


if __name__ == "__main__":
    patient()
    if sys.argv[1] == "proxy":
        proxy(sys.argv[2], int(sys.argv[3]))
    else:
        client()
