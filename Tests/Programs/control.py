"""A daemon that is none: answers from a script on a Unix socket, and beside it a web server and a resolver.

    control.py DIRECTORY

The directory holds `script.json`; the socket is made in it as `control.sock`. Each request is printed as a line of JSON,
and "ready" with the ports of the web server and the resolver once all three are there.

A script has `answers`, `web` and `names`. An answer has `to` ("GET /v1/status", the query aside), `status` and `json`, or
`text`; or `pieces`, sent as they are with `pause` seconds between them. Of several answers to one request the first that
is left is taken, and the last one stays. `hold` keeps the connection open, `deaf` reads no more than the head.
"""

import json
import os
import socket
import sys
import threading
import time

directory = sys.argv[1]
with open(os.path.join(directory, "script.json"), encoding="utf-8") as file:
    script = json.load(file)
lock = threading.Lock()


def say(**fields):
    with lock:
        print(json.dumps(fields), flush=True)


def pick(answers, key):
    with lock:
        fitting = [answer for answer in answers if answer["to"] in (key, "*")]
        if len(fitting) > 1:
            answers.remove(fitting[0])
        return fitting[0] if fitting else None


def read_request(connection, deaf):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    fields = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in lines[1:]}
    length = 0 if deaf else int(fields.get("content-length", 0))
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            break
        body += piece
    method, target, _ = lines[0].split(" ")
    return method, target, fields, body


def serve(connection, answers, kind):
    with connection:
        try:
            request = read_request(connection, any(answer.get("deaf") for answer in answers))
            if request is None:
                return
            method, target, fields, body = request
            say(
                kind=kind, method=method, target=target, host=fields.get("host"), type=fields.get("content-type"),
                last=fields.get("last-event-id"), body=body.decode("utf-8", "replace"))
            answer = pick(answers, method + " " + target.split("?")[0])
            if answer is None:
                answer = {"status": 404, "json": {"error": {"code": "notFound", "message": "no such answer"}}}
            send(connection, answer)
            if answer.get("hold"):
                time.sleep(30)
        except OSError:
            pass


def send(connection, answer):
    if "pieces" in answer:
        for piece in answer["pieces"]:
            connection.sendall(piece.encode("latin-1"))
            time.sleep(answer.get("pause", 0))
        return
    body = (json.dumps(answer["json"], ensure_ascii=False) if "json" in answer else answer.get("text", "")).encode()
    head = "HTTP/1.1 %d Reason\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (answer["status"], len(body))
    for name, value in answer.get("fields", {}).items():
        head += "%s: %s\r\n" % (name, value)
    connection.sendall((head + "\r\n").encode() + body)


def listen(listener, answers, kind):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, answers, kind), daemon=True).start()


def resolve(server):
    """Answers A questions for the script's names: an address, or null for a name that does not exist."""
    names = script.get("names", {})
    while True:
        message, peer = server.recvfrom(4096)
        place, labels = 12, []
        while message[place]:
            labels.append(message[place + 1 : place + 1 + message[place]].decode())
            place += message[place] + 1
        question = message[12 : place + 5]
        kind = int.from_bytes(message[place + 1 : place + 3], "big")
        name = ".".join(labels)
        say(kind="dns", name=name, type=kind)
        if name in names and names[name] == "silence":
            continue
        address = names.get(name)
        code, records = (0, b"") if address else (3, b"")
        if address and kind == 1:
            records = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04" + socket.inet_aton(address)
        counts = (1).to_bytes(2, "big") + (1 if records else 0).to_bytes(2, "big") + b"\0\0\0\0"
        # A forged answer with another id comes first: it has to be passed over.
        for identity in (bytes([message[0] ^ 1]) + message[1:2], message[:2]):
            forged = records[:-4] + socket.inet_aton("192.0.2.66") if records and identity != message[:2] else records
            server.sendto(identity + (0x8180 | code).to_bytes(2, "big") + counts + question + forged, peer)


def start(listener, answers, kind):
    listener.listen(64)
    threading.Thread(target=listen, args=(listener, answers, kind), daemon=True).start()


path = os.path.join(directory, "control.sock")
# One that was killed has left it there.
if os.path.exists(path):
    os.unlink(path)
control = socket.socket(socket.AF_UNIX)
control.bind(path)
start(control, script.get("answers", []), "control")
web = socket.socket()
web.bind(("127.0.0.1", 0))
start(web, script.get("web", []), "web")
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 0))
# The ports are not known when the script is written.
for answer in script.get("answers", []):
    if "json" in answer:
        answer["json"] = json.loads(
            json.dumps(answer["json"]).replace("$DNS", str(names.getsockname()[1])))
say(kind="ready", web=web.getsockname()[1], dns=names.getsockname()[1])
resolve(names)
