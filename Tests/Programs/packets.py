#!/usr/bin/python3
"""Puts packets of its own making into the gateway's TUN device and watches what the daemon writes there.

    packets.py DEVICE < job.json

The job is a list of steps, played in order; one JSON line of results is printed at the end.

    {"do": "inject", "packet": {...}, "repeat": 1, "varyPort": false, "rate": 0}
    {"do": "watch", "seconds": 0.3}                  what comes is gathered until the time is over
    {"do": "await", "within": 1, "source": …, "destination": …}      until one such packet has come
    {"do": "talk", "packet": {SYN}, "send": "x", "seconds": 5, "window": 64240}
                                                     a client that acknowledges everything; its sums are in "talk"

A packet is {"hex": "45…"} ("sealed": the IPv4 header's checksum is computed) or fields: source, destination, then tcp {from, to, flags, seq, ack, window, options
[["mss", 1460], ["ts", 1, 0], …]}, udp {from, to} or echo {id, seq}, data (Latin-1), badSum "tcp" | "ip".
"""
import ipaddress
import json
import select
import socket
import struct
import sys
import time

FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "U": 32, "E": 64, "C": 128}
OUTGOING = 4
SOL_PACKET, PACKET_VNET_HDR = 263, 15


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def option(one):
    kind, *values = one
    if kind == "mss":
        return struct.pack(">BBH", 2, 4, *values)
    if kind == "ws":
        return struct.pack(">BBB", 3, 3, *values)
    if kind == "sackok":
        return b"\x04\x02"
    if kind == "ts":
        return struct.pack(">BBII", 8, 10, *values)
    return bytes.fromhex(values[0])  # ["raw", "1e0c…"]


def tcp(fields, data):
    options = b"".join(option(one) for one in fields.get("options", []))
    options += b"\x01" * (-len(options) % 4)
    flags = sum(FLAGS[letter] for letter in fields["flags"])
    return struct.pack(
        ">HHIIBBHHH", fields["from"], fields["to"], fields.get("seq", 0) % 2**32, fields.get("ack", 0) % 2**32,
        (20 + len(options)) // 4 << 4, flags, fields.get("window", 64240), 0, 0) + options + data


def build(packet):
    if "hex" in packet:
        data = bytes.fromhex(packet["hex"])
        if packet.get("sealed"):
            data = data[:10] + b"\0\0" + data[12:]
            data = data[:10] + struct.pack(">H", checksum(data[:20])) + data[12:]
        return data
    source, destination = ipaddress.ip_address(packet["source"]), ipaddress.ip_address(packet["destination"])
    data, six = packet.get("data", "").encode("latin-1"), source.version == 6
    if "tcp" in packet:
        protocol, place, body = 6, 16, tcp(packet["tcp"], data)
    elif "udp" in packet:
        protocol, place = 17, 6
        body = struct.pack(">HHHH", packet["udp"]["from"], packet["udp"]["to"], 8 + len(data), 0) + data
    else:
        protocol, place = (58 if six else 1), 2
        body = struct.pack(">BBHHH", 128 if six else 8, 0, 0, packet["echo"]["id"], packet["echo"]["seq"]) + data
    pseudo = source.packed + destination.packed + struct.pack(">IHBB", len(body), 0, 0, protocol)
    total = checksum((pseudo if protocol != 1 else b"") + body)
    if packet.get("badSum") == "tcp":
        total ^= 0x5555
    body = body[:place] + struct.pack(">H", total) + body[place + 2 :]
    if six:
        return struct.pack(">IHBB", 6 << 28, len(body), protocol, 64) + source.packed + destination.packed + body
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 0x1234, 0x4000, 64, protocol, 0)
    head += source.packed + destination.packed
    total = checksum(head) ^ (0x5555 if packet.get("badSum") == "ip" else 0)
    return head[:10] + struct.pack(">H", total) + head[12:] + body


def describe(data, segment):
    """Reads a packet into plain fields."""
    if data[0] >> 4 == 4:
        length, protocol = (data[0] & 15) * 4, data[9]
        source, destination = ipaddress.ip_address(data[12:16]), ipaddress.ip_address(data[16:20])
    else:
        length, protocol = 40, data[6]
        source, destination = ipaddress.ip_address(data[8:24]), ipaddress.ip_address(data[24:40])
    about = {"source": str(source), "destination": str(destination), "protocol": protocol, "hopLimit":
             data[8] if data[0] >> 4 == 4 else data[7]}
    body = data[length:]
    if protocol == 6:
        about["from"], about["to"], about["seq"], about["ack"] = struct.unpack(">HHII", body[:12])
        offset = (body[12] >> 4) * 4
        about["flags"] = "".join(letter for letter, bit in FLAGS.items() if body[13] & bit)
        about["window"] = struct.unpack(">H", body[14:16])[0]
        about["payload"] = len(body) - offset
        about["segment"] = min(segment, about["payload"]) if segment else about["payload"]
        about["options"] = body[20:offset].hex()
        about["mss"] = mss_of(body[20:offset])
    elif protocol in (1, 58):
        about["type"], about["code"], about["body"] = body[0], body[1], body[4:].hex()
        pseudo = source.packed + destination.packed + struct.pack(">IHBB", len(body), 0, 0, 58)
        about["sumGood"] = checksum((pseudo if protocol == 58 else b"") + body) == 0
    return about


def mss_of(options):
    place = 0
    while place + 1 < len(options) and options[place] != 0:
        if options[place] == 1:
            place += 1
            continue
        if options[place] == 2:
            return struct.unpack(">H", options[place + 2 : place + 4])[0]
        place += max(options[place + 1], 2)
    return 0


class Player:
    def __init__(self, device):
        self.out = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.device = device
        self.watcher = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.watcher.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
        self.watcher.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        self.watcher.bind((device, 3))
        self.began = time.monotonic()
        self.got = []
        self.talked = None

    def next(self, deadline):
        """The next packet that the daemon wrote, with its fields, or None."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.watcher], [], [], left)[0]:
                return None
            data, place = self.watcher.recvfrom(70000)
            if place[2] != OUTGOING and len(data) > 30:
                about = describe(data[10:], struct.unpack_from("<H", data, 4)[0])
                about["at"] = time.monotonic() - self.began
                return about

    def put(self, data):
        protocol = 0x0800 if data[0] >> 4 == 4 else 0x86DD
        while True:
            try:
                self.out.sendto(data, (self.device, protocol))
                return
            except OSError as error:
                if error.errno not in (105, 11):
                    raise
                time.sleep(0.001)

    def inject(self, step):
        packet, began = step["packet"], time.monotonic()
        data = build(packet)
        for number in range(step.get("repeat", 1)):
            if step.get("varyPort"):
                part = packet.get("tcp") or packet["udp"]
                part["from"] = 10000 + number % 50000
                if "sources" in step:
                    packet["source"] = step["sources"][number // 50 % len(step["sources"])]
                data = build(packet)
            self.put(data)
            if step.get("rate"):
                time.sleep(max(0, began + number / step["rate"] - time.monotonic()))

    def watch(self, step):
        deadline = time.monotonic() + step["seconds"]
        while (about := self.next(deadline)) is not None:
            self.got.append(about)

    def wait(self, step):
        deadline = time.monotonic() + step.get("within", 1)
        wanted = {key: step[key] for key in ("source", "destination", "to", "from", "flags") if key in step}
        while (about := self.next(deadline)) is not None:
            self.got.append(about)
            if all(about.get(key) == value for key, value in wanted.items()):
                return

    def talk(self, step):
        packet = step["packet"]
        ours = dict(packet["tcp"])
        self.put(build(packet))
        deadline = time.monotonic() + step["seconds"]
        sums = self.talked = {"open": False, "received": 0, "largest": 0, "flags": []}
        expected = None
        while (about := self.next(deadline)) is not None:
            if about["protocol"] != 6 or about["to"] != ours["from"] or about["from"] != ours["to"]:
                continue
            if about["flags"] not in sums["flags"]:
                sums["flags"].append(about["flags"])
            if "R" in about["flags"]:
                return
            if "S" in about["flags"]:
                if expected is None:
                    sums.update(open=True, mss=about["mss"], options=about["options"])
                    expected = about["seq"] + 1
                    self.reply(packet, ours["seq"] + 1, expected, step, step.get("send", ""))
                continue
            sums["largest"] = max(sums["largest"], about["segment"])
            if about["seq"] == expected % 2**32:
                expected += about["payload"]
                sums["received"] += about["payload"]
                fin = "F" in about["flags"]
                if about["payload"] or fin:
                    self.reply(packet, ours["seq"] + 1 + len(step.get("send", "")), expected + fin, step, "")
                if fin:
                    return

    def reply(self, packet, seq, ack, step, data):
        part = dict(packet["tcp"], flags="A", seq=seq, ack=ack, window=step.get("window", 64240), options=[])
        self.put(build(dict(packet, tcp=part, data=data)))

    def play(self, steps):
        names = {"inject": self.inject, "watch": self.watch, "await": self.wait, "talk": self.talk}
        for step in steps:
            names[step["do"]](step)


if __name__ == "__main__":
    player = Player(sys.argv[1])
    player.play(json.load(sys.stdin))
    print(json.dumps({"packets": player.got, "talk": player.talked}), flush=True)
