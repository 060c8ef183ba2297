"""A proxy that does what Whistle does, as far as gateways and phones can tell: it decrypts, and gives out its certificate.

    whistle_like.py ADDRESS PORT DIRECTORY      makes root.crt and root.key in DIRECTORY, prints "ready", then a line for
                                                each request: "CONNECT host:443", "GET https://host/"

Like Whistle (lib/config.js, lib/tunnel.js, lib/https/ca.js and biz/webui/lib/index.js there) it
- answers some names itself, whatever the network is like: Host "rootca.pro", without a port, gets the root in PEM as a
  download, named after the path; the others get the console's page
- says 200 to every CONNECT before it knows anything of the host, and calls itself so (Proxy-Agent)
- reads what then comes as TLS with a certificate that its root has signed, what begins as a request as one, and carries
  anything else on unread
- has a root of RSA 2048 for ten years, whose name ends in digits.

What it has decrypted goes on by plain http: that is what the rule `https://host http://host` makes of it, and the lab's
servers speak nothing else.
"""

import http.client
import http.server
import os
import re
import select
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import urllib.parse

CONSOLE = {"local.whistlejs.com", "local.wproxy.org", "l.wproxy.org"}
# For one hop alone (RFC 9110, section 7.6.1).
HOP = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
TYPES = {"crt": "application/x-x509-ca-cert", "cer": "application/pkix-cert", "pem": "application/x-x509-ca-cert"}


class Authority:
    def __init__(self, directory):
        self.directory = directory
        self.contexts = {}
        self.lock = threading.Lock()
        os.makedirs(directory, exist_ok=True)
        number = "17350000000001"
        subject = f"/CN=whistle.{number}/C=CN/ST=ZJ/L=HZ/O={number}.wproxy.org/OU=wproxy.org"
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "root.key", "-out", "root.crt",
                     "-subj", subject, "-days", "3650", "-addext", "keyUsage=keyCertSign,digitalSignature")
        self.openssl("genrsa", "-out", "leaf.key", "2048")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def root(self):
        with open(f"{self.directory}/root.crt", "rb") as file:
            return file.read()

    def context(self, host):
        with self.lock:
            if host not in self.contexts:
                self.contexts[host] = self.certify(host)
            return self.contexts[host]

    def certify(self, host):
        leaf = f"leaf-{len(self.contexts)}"
        with open(f"{self.directory}/{leaf}.ext", "w", encoding="utf-8") as file:
            kind = "IP" if re.fullmatch(r"[\d.]+|[\da-f:]+", host) else "DNS"
            file.write(f"subjectAltName={kind}:{host}\n")
        self.openssl("req", "-new", "-key", "leaf.key", "-subj", f"/CN={host}", "-out", f"{leaf}.csr")
        self.openssl("x509", "-req", "-in", f"{leaf}.csr", "-CA", "root.crt", "-CAkey", "root.key", "-days", "365",
                     "-extfile", f"{leaf}.ext", "-out", f"{leaf}.crt")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{self.directory}/{leaf}.crt", f"{self.directory}/leaf.key")
        return context


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    authority = None
    # Of the tunnel that this connection has become.
    scheme = "http"

    def do_CONNECT(self):
        print("CONNECT", self.path, flush=True)
        host, _, port = self.path.rpartition(":")
        self.connection.sendall(b"HTTP/1.1 200 Connection Established\r\nProxy-Agent: whistle\r\n\r\n")
        first = self.connection.recv(8, socket.MSG_PEEK)
        # A handshake record (RFC 8446, section 5.1).
        if first[:1] == b"\x16":
            self.decrypt(host)
        elif re.match(rb"[A-Z]{3,8}", first) is None:
            self.close_connection = True
            if first:
                self.carry(host, int(port))

    def decrypt(self, host):
        try:
            self.connection = self.authority.context(host).wrap_socket(self.connection, server_side=True)
        except OSError as error:
            print("no handshake", host, type(error).__name__, flush=True)
            self.close_connection = True
            return
        self.scheme = "https"
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)

    def carry(self, host, port):
        try:
            with socket.create_connection((host, port), timeout=5) as server:
                ends = {self.connection: server, server: self.connection}
                while ends:
                    for end in select.select(list(ends), [], [])[0]:
                        data = end.recv(65536)
                        if data:
                            ends[end].sendall(data)
                        else:
                            ends.pop(end).shutdown(socket.SHUT_WR)
        except (OSError, KeyError):
            pass

    def answer(self):
        place = urllib.parse.urlsplit(self.path)
        path = urllib.parse.urlunsplit(("", "", place.path or "/", place.query, ""))
        host = self.headers.get("Host", "")
        print(self.command, f"{self.scheme}://{host}{path}", flush=True)
        if host == "rootca.pro":
            name = path[1:4] if path[1:4] in TYPES else "crt"
            self.give(200, TYPES[name], self.authority.root(), f'attachment; filename="rootCA.{name}"')
        elif host in CONSOLE:
            self.give(200, "text/html; charset=utf-8", b"<!doctype html><title>Whistle Web Debugger</title>Network")
        else:
            self.pass_on(host, path)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = answer

    def give(self, status, kind, body, disposition=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if disposition:
            self.send_header("Content-Disposition", disposition)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def pass_on(self, host, path):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fields = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
        server = http.client.HTTPConnection(host, timeout=5)
        try:
            server.request(self.command, path, body, fields)
            answer = server.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.give(502, "text/plain", f"{type(error).__name__}\n".encode())
            return
        finally:
            server.close()
        self.give(answer.status, answer.getheader("Content-Type", "text/plain"), content)

    def version_string(self):
        return "whistle"

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def server_bind(self):
        # Not as the class above does, which looks this machine's name up: there may be nobody to ask.
        socketserver.TCPServer.server_bind(self)


def main(address, port, directory):
    Proxy.authority = Authority(directory)
    server = Server((address, int(port)), Proxy)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
