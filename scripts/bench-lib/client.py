"""The load generator's client, run in a lab's device namespace, and what its lines say."""

import http.client
import json
import selectors
import socket
import subprocess
import time

from lab import NET, LabError


def once(lab, *words, timeout=60):
    """Runs one client to its end and returns the JSON line that it printed."""
    command = ["ip", "netns", "exec", lab.dev, lab.programs.bench, "client"] + [str(word) for word in words]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise LabError(f"{' '.join(command)}: not done after {timeout} s\n{lab.log()}")
    if result.returncode != 0:
        raise LabError(f"{' '.join(command)}: {result.stderr.strip()}\n{lab.log()}")
    return json.loads(result.stdout.splitlines()[-1])


def wait_until_ready(lab, port, seconds=10):
    """Waits until a byte makes the way there and back through the gateway."""
    until = time.monotonic() + seconds
    while True:
        try:
            return once(lab, "latency", "--kind", "first-byte", "--to", f"{NET}:{port}", "--count", 1, "--limit", 1)
        except LabError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


class Holder:
    """A client that opens many connections, and then moves bytes on them and closes them when told to."""

    def __init__(self, lab, port, count, at_once=128, limit=20):
        self.limit = limit
        self.lab = lab
        self.process = lab.spawn(
            lab.dev, [lab.programs.bench, "client", "hold", "--to", f"{NET}:{port}", "--count", count,
                      "--at-once", at_once, "--limit", limit], interactive=True)
        self.lines = selectors.DefaultSelector()
        self.lines.register(self.process.stdout, selectors.EVENT_READ)
        self.opened = self.answer()

    def answer(self):
        if not self.lines.select(self.limit + 5):
            raise LabError("the holding client says nothing")
        line = self.process.stdout.readline()
        if not line:
            raise LabError(f"the holding client is gone\n{self.lab.log()}")
        return json.loads(line)

    def tell(self, *words):
        self.process.stdin.write((" ".join(str(word) for word in words) + "\n").encode())
        self.process.stdin.flush()
        return self.answer()

    def move(self, count, times=1):
        """Sends `count` bytes on each connection and reads them back, `times` times."""
        return self.tell("move", count, times)

    def close(self):
        """Closes the connections and ends the client."""
        closed = self.tell("close")
        self.lines.close()
        self.lab.stop(self.process)
        return closed


class Opener:
    """A device that opens flows one after the other for half a second, and says of each when its first byte was back."""

    PROGRAM = """
import json, socket, sys, time
held = []
for line in sys.stdin:
    print("begun", flush=True)
    end, seen = time.monotonic() + 0.5, []
    while time.monotonic() < end:
        flow = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5)
        flow.sendall(b"x")
        flow.recv(1)
        seen.append((flow.getsockname()[1], time.monotonic()))
        held.append(flow)
    print(json.dumps(seen), flush=True)
"""

    def __init__(self, lab, port):
        self.lab = lab
        self.process = lab.spawn(lab.dev, ["python3", "-c", self.PROGRAM, NET, port], interactive=True)

    def begin(self):
        self.process.stdin.write(b"open\n")
        self.process.stdin.flush()
        self.line()

    def seen(self):
        """The local port of each flow and when it had its first byte (CLOCK_MONOTONIC)."""
        return dict(json.loads(self.line()))

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise LabError(f"a new flow was not opened\n{self.lab.log()}")
        return line

    def close(self):
        self.lab.stop(self.process)


class Flood:
    """Another device that asks for the page as fast as it can: many connections, each opened anew as soon as it is refused."""

    PROGRAM = """
import json, selectors, socket, struct, sys
page, count = (sys.argv[1], 80), int(sys.argv[2])
request = f"GET / HTTP/1.1\\r\\nHost: {sys.argv[1]}\\r\\n\\r\\n".encode()
seen = {"requests": 0, "answered": 0, "refused": 0, "reset": 0}
ready = selectors.DefaultSelector()
ready.register(sys.stdin, selectors.EVENT_READ)

def begin():
    flow = socket.socket()
    flow.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    flow.setblocking(False)
    flow.connect_ex(page)
    ready.register(flow, selectors.EVENT_WRITE)

def again(flow, what):
    seen[what] += 1
    ready.unregister(flow)
    flow.close()
    begin()

for _ in range(count):
    begin()
print("begun", flush=True)
while True:
    for key, events in ready.select():
        flow = key.fileobj
        if flow is sys.stdin:
            print(json.dumps(seen), flush=True)
            sys.exit()
        try:
            if events & selectors.EVENT_WRITE:
                flow.send(request)
                seen["requests"] += 1
                ready.modify(flow, selectors.EVENT_READ)
                continue
            data = flow.recv(65536)
        except OSError:
            again(flow, "reset")
            continue
        if not data:
            again(flow, "reset")
        elif data.startswith(b"HTTP/1.1 429"):
            again(flow, "refused")
        elif data.startswith(b"HTTP/1.1 200"):
            seen["answered"] += 1
            ready.modify(flow, selectors.EVENT_WRITE)
"""

    def __init__(self, lab, page, count):
        self.lab = lab
        self.began = time.monotonic()
        self.process = lab.spawn(lab.other, ["python3", "-c", self.PROGRAM, page, count], interactive=True)
        self.line()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise LabError(f"the flood has ended by itself\n{self.lab.log()}")
        return line

    def close(self):
        """Ends the flood, and says how much of each there was in a second."""
        self.process.stdin.write(b"end\n")
        self.process.stdin.flush()
        seen, seconds = json.loads(self.line()), time.monotonic() - self.began
        self.lab.stop(self.process)
        return {name: number / seconds for name, number in seen.items()}


class Control(http.client.HTTPConnection):
    """The gateway's control socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, method, target, body):
    """One request to the control API; what it refuses is an error."""
    control = Control(path)
    headers = {"Content-Type": "application/json"} if body else {}
    control.request(method, target, json.dumps(body) if body else None, headers)
    answer = control.getresponse()
    text = answer.read().decode()
    control.close()
    if answer.status >= 300:
        raise LabError(f"{method} {target}: {answer.status} {text}")
    return json.loads(text)
