#!/usr/bin/python3
"""Wants more of a DNS server than it gives, and says in a line of JSON what it got.

    limits.py questions SERVER COUNT           asks for so many names at once: how many answers came within a second, by
                                               their RCODE, and how many later
    limits.py connections SERVER COUNT [ask]   opens so many connections, each with a question where that is wanted: what
                                               became of each, in their order
"""
import collections
import json
import select
import socket
import sys
import time


def query(number):
    name = f"n{number}"
    labels = bytes([len(name)]) + name.encode() + b"\x05limit\x04test\0"
    return number.to_bytes(2, "big") + b"\x01\0\0\x01\0\0\0\0\0\0" + labels + b"\0\x01\0\x01"


def questions(server, count):
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    client.connect((server, 53))
    sent, answers, late = {}, collections.Counter(), 0

    def receive(until):
        nonlocal late
        while (left := until - time.monotonic()) > 0 or select.select([client], [], [], 0)[0]:
            if not select.select([client], [], [], max(0, left))[0]:
                return
            answer = client.recv(4096)
            if time.monotonic() - sent[int.from_bytes(answer[:2], "big")] < 1:
                answers[answer[3] & 15] += 1
            else:
                late += 1

    for number in range(count):
        sent[number] = time.monotonic()
        client.send(query(number))
        # Neither side's buffer is what is tried here.
        if number % 20 == 19:
            receive(time.monotonic() + 0.01)
    receive(time.monotonic() + 1)
    print(json.dumps({"answers": answers, "late": late}), flush=True)


def connections(server, count, asks):
    clients, refused = [], set()
    for number in range(count):
        try:
            client = socket.create_connection((server, 53), timeout=5)
            clients.append(client)
            if asks:
                question = query(number)
                client.sendall(len(question).to_bytes(2, "big") + question)
        except (ConnectionResetError, BrokenPipeError):
            # Whoever hears of it here does not hear of it from a read.
            refused.add(number)
            if len(clients) == number:
                clients.append(None)
        # One is accepted, and its question read, before the next one comes.
        time.sleep(0.003)
    time.sleep(0.3)
    ends = []
    for number, client in enumerate(clients):
        if number in refused:
            ends.append("reset")
            continue
        client.setblocking(False)
        try:
            ends.append("closed" if client.recv(1) == b"" else "answered")
        except BlockingIOError:
            ends.append("open")
        except (ConnectionResetError, BrokenPipeError):
            ends.append("reset")
    print(json.dumps({"ends": ends}), flush=True)


if sys.argv[1] == "questions":
    questions(sys.argv[2], int(sys.argv[3]))
else:
    connections(sys.argv[2], int(sys.argv[3]), "ask" in sys.argv[4:])
