"""Speaks to a gateway's control socket as nobody should; the gateway has to stay as it was.

    api_hostile.py SOCKET PID HOST:PORT [NAME …]   does what is below, or some of it; prints one line for each

HOST:PORT is where those speak who sign what they ask; nothing is signed here.

Every answer has to be none of the server's faults (5xx) and to let no other origin read it; behind each attack a plain
request is answered within a second. At the end the gateway has as many descriptors as at the start, and hardly more
memory.
"""

import json
import os
import re
import resource
import select
import socket
import sys
import threading
import time

SOCKET, PID = sys.argv[1], int(sys.argv[2])
HOST, PORT = sys.argv[3].rsplit(":", 1)
STATUS = b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
MIB = 1 << 20


def connect(timeout=10):
    client = socket.socket(socket.AF_UNIX)
    # Where too many wait to be taken in, a connect that may not block fails at once.
    client.connect(SOCKET)
    client.settimeout(timeout)
    return client


def descriptors():
    return len(os.listdir(f"/proc/{PID}/fd"))


def memory(kind="VmRSS"):
    with open(f"/proc/{PID}/status") as status:
        return int(re.search(rf"{kind}:\s+(\d+)", status.read())[1]) * 1024


class Answers:
    """Takes one answer after the other off a connection, each as strictly as its head says."""

    def __init__(self, client):
        self.client, self.rest = client, b""

    def fill(self):
        data = self.client.recv(65536)
        self.rest += data
        return bool(data)

    def next(self, head_only=False):
        """Status, fields, body; None where the connection has ended."""
        while b"\r\n\r\n" not in self.rest:
            if not self.fill():
                assert not self.rest, self.rest
                return None
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        line, *lines = head.decode("ascii").split("\r\n")
        version, status, _ = line.split(" ", 2)
        assert version == "HTTP/1.1", line
        fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        assert len(fields) == len(lines), head
        assert int(status) < 500 or int(status) == 505, head
        assert not [name for name in fields if name.startswith("access-control")], head
        if status == "100":
            return 100, fields, b""
        length = 0 if head_only else int(fields["content-length"])
        while len(self.rest) < length:
            assert self.fill(), "a part of an answer"
        body, self.rest = self.rest[:length], self.rest[length:]
        if body:
            json.loads(body)
        return int(status), fields, body

    def ends(self):
        """Whether nothing more comes."""
        return not self.rest and not self.fill()


def ask(data, head_only=False):
    """Sends octets and takes one answer; the second value says whether the connection ended with it."""
    with connect() as client:
        try:
            client.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        answers = Answers(client)
        answer = answers.next(head_only)
        return answer, answer is not None and answer[1].get("connection") == "close" and answers.ends()


def request(method, target, body=b"", fields=(), version="1.1"):
    lines = [f"{method} {target} HTTP/{version}", "Host: localhost", *fields]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


JSON = ("Content-Type: application/json",)


def expect(status, data, **how):
    answer, ended = ask(data, **how)
    assert answer is not None and answer[0] == status, (status, data[:200], answer)
    return answer, ended


def serves(within=1.0):
    """A plain request is answered, and soon."""
    start = time.monotonic()
    answer, _ = ask(request("GET", "/v1/status", fields=("Connection: close",)))
    took = time.monotonic() - start
    assert answer[0] == 200 and took < within, (answer, took)


# Each is one attack; its name is what it does.


def malformed_heads():
    for data in (
        b"\0" * 100, b"GET\r\n\r\n", b"GET /v1/status\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n",
        b"GET /v1/status HTTP/1.1\r\n\r\n", b"GET /v1/status HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        b"GET /v1/status HTTP/1.1\r\nHost: a b\r\n\r\n", b"GET /v1/status HTTP/1.1\r\nHost: a@b\r\n\r\n",
        b"GET /v1/\0status HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n",
        b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", b"GET /v1/status\rx HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n", b"GET /v1/status HTTP/1.1\r\nHost: a\r\n X: a\r\n\r\n",
        b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", b"GET  /v1/status HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /v1/\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", b"G(T /v1/status HTTP/1.1\r\nHost: a\r\n\r\n",
    ):
        if data.endswith(b"\r\n\r\n"):
            _, ended = expect(400, data)
            assert ended, data
    expect(505, b"GET /v1/status HTTP/2.0\r\nHost: a\r\n\r\n")
    expect(400, b"PRI * HTTP/1.1\r\nHost: a\r\n\r\n")


def ambiguous_lengths():
    body = b'{"revision": 1}'
    for fields in (
        ("Content-Length: 15", "Content-Length: 15"), ("Content-Length: 15", "Content-Length: 3"),
        ("Content-Length: 15, 15",), ("Content-Length: +15",), ("Content-Length: -1",), ("Content-Length: 0x0f",),
        ("Content-Length: 99999999999999999999999",), ("Content-Length: 15", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: gzip, chunked",), ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: identity",), ("Transfer-Encoding: xchunked",), ("Content-Length:",),
    ):
        _, ended = expect(400, request("POST", "/v1/confirm", fields=(*JSON, *fields)) + body)
        assert ended, fields


def chunks():
    head = request("POST", "/v1/confirm", fields=(*JSON, "Transfer-Encoding: chunked"))
    # Right ones: nothing waits for a confirmation.
    for body in (
        b'f\r\n{"revision": 1}\r\n0\r\n\r\n', b'F;a="b"\r\n{"revision": 1}\r\n0\r\nX: y\r\n\r\n',
        b"".join(b"1\r\n%c\r\n" % octet for octet in b'{"revision": 1}') + b"000\r\n\r\n",
    ):
        expect(409, head + body)
    for body in (
        b"x\r\n", b"-1\r\n", b'f\n{"revision": 1}\n0\n\n', b'f\r\n{"revision": 1}X\r\n0\r\n\r\n',
        b"ffffffffffffffffffff\r\n",
        b"f;" + b"a" * 5000, b"\r\n", b'f\r\n{"revision": 1}\r\n0\r\nX: y\nZ: \r\n\r\n', b"0x5\r\n",
    ):
        _, ended = expect(400, head + body)
        assert ended, body
    expect(413, head + b"500000\r\n" + b" " * (5 * MIB) + b"\r\n0\r\n\r\n")
    expect(413, head + b"1000\r\n".join([b""] + [b" " * 4096 + b"\r\n"] * 1100))


def large_things():
    expect(431, b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 70000 + b"\r\n\r\n")
    expect(431, b"GET /v1/status HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 20000 + b"\r\n")
    expect(431, b"\r\n" * 40000)
    expect(400, request("GET", "/v1/" + "a" * 10000))
    for _ in range(8):
        _, ended = expect(413, request("PUT", "/v1/config", b" " * (5 * MIB), JSON))
        assert ended
    # At the limit a body is read, and refused for what it says: nothing.
    expect(422, request("PUT", "/v1/config", b" " * (4 * MIB), JSON))
    expect(400, request("PUT", "/v1/config", b"[" * MIB, JSON))
    expect(413, request("PUT", "/v1/config", b"", (*JSON, f"Content-Length: {1 << 50}")))


def targets():
    for target in ("/", "/v1", "/v1/", "//v1/status", "/v1//status", "/v1/status/", "/v1/..%2fstatus", "/v1/%2e%2e/x",
                   "/v1/profiles/..%2f..%2f..%2fetc%2fpasswd", "/v2/status",):
        expect(404, request("GET", target))
    for target in ("*", "/v1/devices/%00", "/v1/profiles/%0d%0aX:y", "v1/status",
                   "/v1/status?a=%zz", "/v1/%ff", "/v1/flows?limit=1&limit=2", "/v1/status?x", "/v1/status?&",
                   "/v1/flows?limit=%31%00", "/v1/flows?limit=-1", "/v1/flows?limit=1e3",
                   "/v1/flows?limit=99999999999999999999",
                   "http:///v1/status", "http://", "http://user@localhost/v1/status"):
        expect(400, request("GET", target))
    expect(200, request("GET", "http://localhost/v1/status"))
    expect(200, request("GET", "HTTP://another:80/v1/flows?limit=1"))
    expect(404, request("GET", "http://localhost?v1/status"))
    expect(400, b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    body = b'{"upstream": {"type": "http", "host": "127.0.0.1", "port": 8080}}'
    expect(422, request("PUT", "/v1/profiles/..%2f..%2fetc", body, JSON))
    for name in ("../x", "a/b", ".hidden", "a\0b", ""):
        expect(400, request("POST", "/v1/capture", json.dumps({"file": name}).encode(), JSON))


def methods():
    for method, target, allowed in (
        ("OPTIONS", "/v1/status", "GET, HEAD"), ("PATCH", "/v1/config", "GET, HEAD, PUT"),
        ("TRACE", "/v1/reload", "POST"),
        ("get", "/v1/status", "GET, HEAD"), ("HEAD", "/v1/activate", "POST"),
        ("DELETE", "/v1/devices/x", "GET, HEAD, PUT"),
    ):
        answer, _ = expect(405, request(method, target), head_only=method == "HEAD")
        assert answer[1]["allow"] == allowed, answer
    expect(404, request("OPTIONS", "/v1/nowhere"))
    with connect() as client:
        answers = Answers(client)
        client.sendall(request("HEAD", "/v1/config") + request("HEAD", "/v1/nowhere") + STATUS)
        assert [answers.next(True)[0], answers.next(True)[0], answers.next()[0]] == [200, 404, 200]
    # What is refused before it is understood has no body either, where it was asked by HEAD.
    with connect() as client:
        client.sendall(request("HEAD", "/v1/%ff"))
        answers = Answers(client)
        assert answers.next(True)[0] == 400 and answers.ends()


def content_types():
    body = b'{"profile": "lab", "all": true}'
    for fields in ((), ("Content-Type: text/plain",), ("Content-Type: application/x-www-form-urlencoded",),
                   ("Content-Type: multipart/form-data; boundary=x",), ("Content-Type: application/jsonp",),
                   ("Content-Type: text/plain", *JSON), (*JSON, "Content-Type: text/plain"),
                   ("Content-Type: application/json, text/plain",), (*JSON, "Content-Encoding: gzip")):
        for method, target in (("POST", "/v1/activate"), ("PUT", "/v1/config"), ("PUT", "/v1/profiles/x"),
                               ("PUT", "/v1/devices/x"), ("POST", "/v1/links/apply"), ("POST", "/v1/capture")):
            expect(415, request(method, target, body, fields))
    expect(409, request("POST", "/v1/confirm", b'{"revision": 1}', ("Content-Type: Application/JSON; charset=utf-8",)))


def origins():
    for method, target in (("GET", "/v1/status"), ("OPTIONS", "/v1/config"), ("POST", "/v1/activate"),
                           ("GET", "/nowhere")):
        answer, _ = ask(request(method, target, fields=(
            "Origin: https://evil.example.test", "Access-Control-Request-Method: PUT",
            "Access-Control-Request-Headers: content-type")))
        assert answer[0] in (200, 404, 405, 415), answer


def broken_documents():
    for body in (b"{", b"null", b"[]", b'"x"', b"{} {}", b'{"revision": 1, "revision": 2}',
                 b"\xff\xfe{\0}\0", b'{"revision": 1e999}',
                 b'{"revision": 9007199254740993000}', b'{"revision": -1}', b'{"revision": NaN}', b'{"__proto__": 1}',
                 b'{"revision": "1"}', b"[" * 100000, b'{"a":' * 100000, b"\xef\xbb\xbf{}", b'{"revision": 1\0}'):
        answer, _ = ask(request("POST", "/v1/confirm", body, JSON))
        assert answer[0] in (400, 422), (body[:100], answer)
    expect(400, request("PUT", "/v1/devices/pixel-7", b"{}", JSON))


def keeps_alive():
    with connect() as client:
        answers = Answers(client)
        for _ in range(200):
            client.sendall(STATUS)
            assert answers.next()[0] == 200
        client.sendall(request("GET", "/v1/status", fields=("Connection: close",)) + STATUS)
        assert answers.next()[0] == 200 and answers.ends()
    with connect() as client:
        client.sendall(request("GET", "/v1/status", version="1.0"))
        answers = Answers(client)
        assert answers.next()[0] == 200 and answers.ends()


def pipelines():
    with connect() as client:
        answers = Answers(client)
        pairs = (STATUS + request("GET", "/v1/nowhere")) * 1000
        sender = threading.Thread(target=client.sendall, args=(pairs,), daemon=True)
        sender.start()
        for _ in range(1000):
            assert (answers.next()[0], answers.next()[0]) == (200, 404)
        sender.join()
    # The client has finished sending when the first answer comes.
    with connect() as client:
        client.sendall(STATUS * 50)
        client.shutdown(socket.SHUT_WR)
        answers = Answers(client)
        assert [answers.next()[0] for _ in range(50)] == [200] * 50 and answers.ends()


def single_octets():
    with connect() as client:
        answers = Answers(client)
        for octet in STATUS + request("POST", "/v1/confirm", b'{"revision": 1}', JSON):
            client.sendall(bytes([octet]))
        assert (answers.next()[0], answers.next()[0]) == (200, 409)


def expectations():
    with connect() as client:
        answers = Answers(client)
        client.sendall(request("POST", "/v1/confirm", fields=(*JSON, "Expect: 100-continue", "Content-Length: 15")))
        assert answers.next()[0] == 100
        client.sendall(b'{"revision": 1}' + STATUS)
        assert (answers.next()[0], answers.next()[0]) == (409, 200)
    expect(413, request("POST", "/v1/confirm", fields=(*JSON, "Expect: 100-continue", f"Content-Length: {5 * MIB}")))
    expect(409, request("POST", "/v1/confirm", b'{"revision": 1}', (*JSON, "Expect: 100-continue"), version="1.0"))


def half_closed():
    for data in (b"", b"GET /v1/sta", request("PUT", "/v1/config", fields=(*JSON, "Content-Length: 100")) + b"{"):
        with connect() as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1) == b"", data


def vanish():
    for data in (b"", b"GET", STATUS, STATUS * 100, request("PUT", "/v1/config", b" " * MIB, JSON)):
        for _ in range(20):
            client = connect()
            client.setblocking(False)
            try:
                client.send(data)
            except BlockingIOError:
                pass
            client.close()


def crowd():
    """More than there are places, silent, slow in the head, slow in the body; a plain request gets through."""
    for data in (b"", b"GET /v1/st", request("PUT", "/v1/config", fields=(*JSON, "Content-Length: 100000")) + b"{"):
        clients = []
        for _ in range(100):
            client = connect()
            client.sendall(data)
            clients.append(client)
        serves()
        assert descriptors() < before + 70, descriptors()
        for client in clients:
            client.close()
        serves()
    stop, turns, errors = threading.Event(), [0], []

    def busy():
        while not stop.is_set():
            try:
                assert ask(STATUS.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))[0][0] == 200
                turns[0] += 1
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=busy, daemon=True) for _ in range(50)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        serves()
        time.sleep(0.02)
    stop.set()
    for thread in threads:
        thread.join(10)
    assert turns[0] > 50 and not errors, (turns, errors[:3])


def deaf():
    """Asks for more than anybody could keep, and reads nothing of it."""
    domains = [f"host-{number}.example.com" for number in range(4000)]
    large = {"upstream": {"type": "http", "host": "127.0.0.1", "port": 8080}, "domains": domains}
    expect(201, request("PUT", "/v1/profiles/large", json.dumps(large).encode(), JSON))
    base, clients = memory(), []
    for _ in range(40):
        client = connect()
        client.setblocking(False)
        try:
            while True:
                client.send(request("GET", "/v1/profiles/large") * 100)
        except BlockingIOError:
            pass
        clients.append(client)
        serves()
    assert memory() < base + 24 * MIB, memory() - base
    # Who reads after all gets what it was promised.
    late = clients[-1]
    late.settimeout(10)
    answers = Answers(late)
    for _ in range(20):
        assert answers.next()[0] == 200
    for client in clients:
        client.close()
    expect(200, request("DELETE", "/v1/profiles/large"))


def flood():
    """Sends all the time and is answered all the time; others are not kept waiting."""
    stop = threading.Event()

    def send(client):
        try:
            while not stop.is_set():
                client.sendall(STATUS * 50)
        except OSError:
            pass

    def drain(client):
        try:
            while client.recv(1 << 18):
                pass
        except OSError:
            pass

    clients = [connect() for _ in range(4)]
    for client in clients:
        for work in (send, drain):
            threading.Thread(target=work, args=(client,), daemon=True).start()
    for _ in range(10):
        serves()
    stop.set()
    for client in clients:
        client.shutdown(socket.SHUT_RDWR)
        client.close()


def strangers():
    """Whoever comes by the network and has not signed gets a refusal, and no place of a local client."""
    local = [connect() for _ in range(10)]
    crowd = [socket.create_connection((HOST, int(PORT)), timeout=10) for _ in range(150)]
    serves()
    for client in local:
        client.sendall(STATUS)
        assert Answers(client).next()[0] == 200
    for client in crowd:
        client.close()
    more = [connect() for _ in range(70)]
    # The last of them was taken in when it is answered.
    more[-1].sendall(STATUS)
    assert Answers(more[-1]).next()[0] == 200
    with socket.create_connection((HOST, int(PORT)), timeout=10) as client:
        assert client.recv(1) == b"", "found a place where all are taken by local ones"
    for client in local + more:
        client.close()
    serves()
    refused = (
        (403, STATUS), (421, STATUS.replace(b"localhost", b"evil.example.test")),
        # A path is looked for when it is known who asks.
        (403, request("GET", "/v1/nowhere")),
        # What is still on its way must not cost the client the answer (RFC 9112, section 9.6).
        *[(413, request("PUT", "/v1/config", b" " * (5 * MIB), JSON))] * 5,
    )
    for status, data in refused:
        with socket.create_connection((HOST, int(PORT)), timeout=10) as client:
            try:
                client.sendall(data.replace(b"Host: localhost", f"Host: {HOST}:{PORT}".encode()))
            except (BrokenPipeError, ConnectionResetError):
                pass
            answer = Answers(client).next()
            assert answer[0] == status, (status, answer)


def without_descriptors():
    """Nobody can be taken in while there are no descriptors; the gateway waits for some, and is not busy with it."""
    def used():
        with open(f"/proc/{PID}/stat") as stat:
            return sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    limits = resource.prlimit(PID, resource.RLIMIT_NOFILE)
    # The lowest free number is what the next descriptor gets; those of probes come and go.
    taken = set(range(1 << 20))
    for _ in range(10):
        taken &= {int(number) for number in os.listdir(f"/proc/{PID}/fd")}
        time.sleep(0.1)
    lowest = next(number for number in range(1 << 20) if number not in taken)
    resource.prlimit(PID, resource.RLIMIT_NOFILE, (lowest, limits[1]))
    try:
        with connect() as client:
            client.sendall(STATUS)
            busy = used()
            assert not select.select([client], [], [], 1.5)[0], "taken in without a descriptor"
            assert used() - busy < 0.5, used() - busy
            resource.prlimit(PID, resource.RLIMIT_NOFILE, limits)
            assert Answers(client).next()[0] == 200
    finally:
        resource.prlimit(PID, resource.RLIMIT_NOFILE, limits)


def slow():
    """A head, and a body, that take longer than they may; the connection ends, at the latest after twelve seconds."""
    start, clients = time.monotonic(), []
    for data in (b"GET /v1/st", request("PUT", "/v1/config", fields=(*JSON, "Content-Length: 100000")) + b"{",
                 # The beginning of a request behind a whole one has no more time than any other.
                 STATUS + b"GET /v1/st",
                 request("PUT", "/v1/config", fields=(*JSON, "Expect: 100-continue", "Content-Length: 9")) + b"{"):
        client = connect(13)
        client.sendall(data)
        clients.append(client)
    waiting = list(clients)
    while waiting and time.monotonic() - start < 13:
        for client in list(waiting):
            try:
                client.send(b"a" if client is not clients[3] else b"")
            except OSError:
                waiting.remove(client)
        for client in select.select(waiting, [], [], 0.2)[0]:
            try:
                if not client.recv(65536):
                    waiting.remove(client)
            except OSError:
                waiting.remove(client)
        serves()
    assert not waiting, [clients.index(client) for client in waiting]
    assert time.monotonic() - start > 8
    for client in clients:
        client.close()


ATTACKS = (
    malformed_heads, ambiguous_lengths, chunks, large_things, targets, methods, content_types, origins,
    broken_documents, keeps_alive, pipelines, single_octets, expectations, half_closed, vanish, crowd, deaf,
    flood, strangers,
    without_descriptors, slow,
)

for _ in range(3):
    serves()
before, base = descriptors(), memory()
for attack in ATTACKS:
    if len(sys.argv) > 4 and attack.__name__ not in sys.argv[4:]:
        continue
    start = time.monotonic()
    attack()
    serves()
    print(f"{attack.__name__.replace('_', ' ')}: {time.monotonic() - start:.2f} s", flush=True)
end = time.monotonic() + 5
while descriptors() > before and time.monotonic() < end:
    time.sleep(0.05)
assert descriptors() <= before, (before, descriptors())
assert memory() < base + 48 * MIB, (base, memory())
assert memory("VmHWM") < base + 96 * MIB, (base, memory("VmHWM"))
print("still serves")
