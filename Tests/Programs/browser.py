"""A site for a real browser: HTTPS that offers HTTP/3 and closes each connection, so that each request may try it.

    browser.py ADDRESS CERTIFICATE KEY

Its page fetches itself eight times and shows the milliseconds and the protocol of each.
"""

import http.server
import ssl
import sys

PAGE = b"""<!doctype html><pre></pre><script>
const lines = [];
for (let number = 0; number < 8; number++) {
    const request = new XMLHttpRequest(), start = performance.now();
    request.open("GET", "/" + number, false);
    request.send();
    const entry = performance.getEntriesByType("resource").pop();
    lines.push("fetched " + Math.round(performance.now() - start) + " " + entry.nextHopProtocol);
}
document.querySelector("pre").textContent = lines.join("\\n");
</script>"""


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = PAGE if self.path == "/" else b"fetched"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Alt-Svc", 'h3=":443"; ma=3600')
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main(address, certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer((address, 443), Page)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
