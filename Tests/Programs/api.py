"""Speaks to a gateway's control socket as any program may, and does so many times.

    api.py call SOCKET METHOD PATH [JSON]        one request; prints status and body
    api.py broken SOCKET                         pushes thirty broken profiles and documents; each must be refused
    api.py switches SOCKET COUNT SOCKS A B       switches COUNT times under load; prints what was seen
    api.py quick SOCKET COUNT SOCKS ECHO         holds COUNT flows open and times a switch; prints milliseconds
    api.py knock HOST PORT SECONDS               connects all the time; prints how many were refused
    api.py push SOCKET COUNT                     pushes COUNT times, each another port; prints "pushing", and each revision
    api.py sign GATEWAY KEY FILE HOST PORT METHOD PATH BODY   a signed request, as openssl signs it
"""

import hashlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time


class Control(http.client.HTTPConnection):
    def __init__(self, path, timeout=20):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def call(path, method, target, body=None, kind="application/json"):
    control = Control(path)
    headers = {"Content-Type": kind} if body is not None else {}
    control.request(method, target, body if body is None or isinstance(body, (str, bytes)) else json.dumps(body), headers)
    answer = control.getresponse()
    text = answer.read().decode()
    control.close()
    return answer.status, text


HTTP = {"type": "http", "host": "10.77.0.2", "port": 8080}

# Where, what is sent, and what the refusal has to name.
BROKEN = [
    ("profiles/x", "", "empty"),
    ("profiles/x", "<!doctype html><title>502</title>", ""),
    ("profiles/x", "{}", "upstream"),
    ("profiles/x", "[]", "upstream"),
    ("profiles/x", "null", ""),
    ("profiles/x", "{\"upstream\": {\"type\": \"http\", \"host\": \"127.0.0.1\", \"port\": 8888}", "line"),
    ("profiles/x", {"upstream": "http://127.0.0.1:70000"}, "upstream"),
    ("profiles/x", {"upstream": {**HTTP, "port": 70000}}, "port"),
    ("profiles/x", {"upstream": {**HTTP, "port": 0}}, "port"),
    ("profiles/x", {"upstream": {**HTTP, "port": "8080"}}, "port"),
    ("profiles/x", {"upstream": {**HTTP, "host": "http://10.77.0.2"}}, "host"),
    ("profiles/x", {"upstream": {**HTTP, "host": ""}}, "host"),
    ("profiles/x", {"upstream": {**HTTP, "hosts": "a"}}, "hosts"),
    ("profiles/x", {"upstream": {**HTTP, "type": "https"}}, "type"),
    ("profiles/x", {"upstream": {**HTTP, "password": "S3cr3t-Zq"}}, "passwordFile"),
    ("profiles/x", {"upstream": {**HTTP, "user": "u", "passwordFile": "/etc/shadow"}}, "passwordFile"),
    ("profiles/x", {"upstream": {**HTTP, "user": "a:b", "passwordFile": "p"}}, "user"),
    ("profiles/x", {"id": "y", "upstream": HTTP}, "id"),
    ("profiles/x", {"upstream": HTTP, "domains": "example.com"}, "domains"),
    ("profiles/x", {"upstream": HTTP, "domains": ["exa mple.com"]}, "domains[0]"),
    ("profiles/x", {"upstream": HTTP, "domains": ["regexp:.*"]}, "domains[0]"),
    ("profiles/x", {"upstream": HTTP, "rules": ["DOMAIN-SUFFIX,example.com"]}, "rules[0]"),
    ("profiles/x", {"upstream": HTTP, "rules": ["RULE-SET,nowhere,PROXY"]}, "rules[0]"),
    ("profiles/x", {"upstream": HTTP, "rules": ["MATCH,nobody"]}, "rules[0]"),
    ("profiles/x", {"upstream": HTTP, "capture": "everything"}, "capture"),
    ("profiles/x", {"upstream": HTTP, "name": 7}, "name"),
    ("profiles/proxy", {"upstream": HTTP}, "id"),
    ("config", {}, "profiles"),
    ("config", {"network": {"setup": "gateway"}}, "network"),
    ("config", {"profiles": [{"id": "a", "upstream": HTTP}, {"id": "a", "upstream": HTTP}]}, "profiles[1]"),
    ("config", {"active": "nobody"}, "active"),
    ("config", {"devices": [{"name": "a", "mac": "ff:ff:ff:ff:ff:ff"}]}, "devices[0]"),
    ("config", {"profiles": [{"id": "a", "upstream": HTTP}, {"id": "b", "upstream": {**HTTP, "port": -1}}]}, "profiles[1]"),
]


def broken(path):
    before = call(path, "GET", "/v1/export")[1], call(path, "GET", "/v1/history")[1]
    for place, body, named in BROKEN:
        status, text = call(path, "PUT", f"/v1/{place}", body)
        error = json.loads(text)["error"]
        assert status in (400, 409, 422), (place, body, status, text)
        assert named in text, (place, body, named, text)
        assert "\n" not in error["message"], text
        assert "S3cr3t-Zq" not in text, text
        after = call(path, "GET", "/v1/export")[1], call(path, "GET", "/v1/history")[1]
        assert after == before, (place, body, text)
    print(f"{len(BROKEN)} refused")


def socks(address, port, target, target_port, timeout=10):
    client = socket.create_connection((address, int(port)), timeout=timeout)
    client.sendall(b"\x05\x01\x00")
    assert client.recv(2) == b"\x05\x00"
    client.sendall(b"\x05\x01\x00\x01" + socket.inet_aton(target) + int(target_port).to_bytes(2, "big"))
    reply = client.recv(10)
    if len(reply) < 2 or reply[1] != 0:
        client.close()
        raise ConnectionError(f"reply {reply!r}")
    return client


def switches(path, count, server, a, b):
    """Clients open streams all the time; behind each switch a new one has to be on the new upstream."""
    address, port = server.split(":")
    count, stop, opened, refused = int(count), threading.Event(), [0], [0]

    def load():
        while not stop.is_set():
            try:
                with socks(address, port, "198.51.100.10", 443) as client:
                    client.sendall(b"x")
                    client.recv(100)
                    opened[0] += 1
            except ConnectionRefusedError:
                refused[0] += 1
            except OSError:
                pass

    threads = [threading.Thread(target=load, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    stale, slowest = 0, 0.0
    for number in range(count):
        profile = (a, b)[number % 2]
        begin = time.monotonic()
        status, text = call(path, "POST", "/v1/activate", {"profile": profile, "all": True, "now": True})
        slowest = max(slowest, time.monotonic() - begin)
        assert status == 200, text
        if number % 50 == 0:
            flows = json.loads(call(path, "GET", "/v1/flows?limit=10000")[1])["flows"]
            # One that has not said yet where it wants to go has no profile.
            stale += sum(flow["profile"] not in (profile, "-") for flow in flows)
    stop.set()
    for thread in threads:
        thread.join(10)
    print(json.dumps({"opened": opened[0], "refused": refused[0], "stale": stale, "slowest": slowest * 1000}))


def quick(path, count, server, other):
    """The time from a switch's command to the first stream by the new upstream, with many flows open."""
    address, port = server.split(":")
    held = []
    while len(held) < int(count):
        held.append(socks(address, port, "198.51.100.10", 443))
    begin = time.monotonic()
    status, text = call(path, "POST", "/v1/activate", {"profile": other, "all": True})
    answered = time.monotonic()
    assert status == 200, text
    client = socks(address, port, "198.51.100.10", 443)
    opened = time.monotonic()
    flows = json.loads(call(path, "GET", "/v1/flows?limit=10000")[1])["flows"]
    new = [flow for flow in flows if flow["profile"] == other]
    client.close()
    for one in held:
        one.close()
    print(json.dumps({
        "answer_ms": (answered - begin) * 1000, "first_flow_ms": (opened - begin) * 1000, "new": len(new),
        "flows": json.loads(text)["flows"]}))


def knock(address, port, seconds):
    """Connects all the time, and counts who is refused."""
    end, connected, refused = time.monotonic() + float(seconds), 0, 0
    print("knocking", flush=True)
    while time.monotonic() < end:
        try:
            socket.create_connection((address, int(port)), timeout=3).close()
            connected += 1
        except ConnectionRefusedError:
            refused += 1
        time.sleep(0.001)
    print(f"{connected} connected, {refused} refused")


def push(path, count):
    print("pushing", flush=True)
    for number in range(int(count)):
        body = {"upstream": {**HTTP, "port": 1000 + number}}
        try:
            status, text = call(path, "PUT", "/v1/profiles/pushed", body)
        except (OSError, http.client.HTTPException):
            return
        assert status in (200, 201), text
        print(json.loads(text)["revision"], 1000 + number, flush=True)


def sign(gateway, key, file, host, port, method, target, body):
    """Signed by openssl, so that nothing of ours signs what ours checks."""
    secret = open(file).read().strip()
    path, _, query = target.partition("?")
    stamp, nonce = os.environ.get("STAMP", str(int(time.time()))), os.environ.get("NONCE", os.urandom(12).hex())
    digest = hashlib.sha256(body.encode()).hexdigest()
    lines = ["starship-push-v1", method, path, query, f"{host}:{port}", gateway, key, stamp, nonce, digest]
    message = "".join(line + "\n" for line in lines).encode()
    openssl = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{secret}", "-binary"]
    raw = subprocess.run(openssl, input=message, capture_output=True, check=True).stdout
    import base64
    signature = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    headers = {
        "Starship-Key": key, "Starship-Time": stamp, "Starship-Nonce": nonce,
        "Starship-Signature": os.environ.get("SIGNATURE", signature), "Content-Type": "application/json"}
    connection.request(method, target, os.environ.get("BODY", body) or None, headers)
    answer = connection.getresponse()
    print(answer.status, answer.getheader("Starship-Signature"), answer.read().decode().strip())


if __name__ == "__main__":
    verb, rest = sys.argv[1], sys.argv[2:]
    if verb == "call":
        print(*call(rest[0], rest[1], rest[2], rest[3] if len(rest) > 3 else None))
    else:
        {"broken": broken, "switches": switches, "quick": quick, "knock": knock, "push": push, "sign": sign}[verb](*rest)
