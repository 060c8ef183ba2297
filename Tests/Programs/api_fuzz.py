"""Lets Schemathesis hold a gateway's control API to its own description.

    api_fuzz.py SCHEMATHESIS SOCKET OPENAPI SEED EXAMPLES

SCHEMATHESIS is its program, which speaks TCP alone: a bridge carries its connections to the Unix socket. Whether a
request that the schema lets pass is also carried out is not asked: most name a profile or a device that isn't there.
Of a failure everything that Schemathesis says is printed.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading

CHECKS = (
    "not_a_server_error", "status_code_conformance", "response_schema_conformance", "content_type_conformance",
    "response_headers_conformance",
    "negative_data_rejection", "unsupported_method", "allow_header_conformance",
)


def carry(source, target):
    """Moves what one side sends until it has sent everything."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def join(client, path):
    with client, socket.socket(socket.AF_UNIX) as gateway:
        gateway.connect(path)
        back = threading.Thread(target=carry, args=(gateway, client), daemon=True)
        back.start()
        carry(client, gateway)
        back.join()


def bridge(path):
    """Listens on a port of this machine alone for as long as the program runs, and says which."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def serve():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=join, args=(client, path), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def fuzz(program, path, description, seed, examples):
    command = [
        program, "run", description, "--url", f"http://127.0.0.1:{bridge(path)}", "--checks", ",".join(CHECKS),
        "--phases", "examples,coverage,fuzzing", "--max-examples", examples, "--seed", seed,
        "--generation-database", "none", "--no-shrink", "--continue-on-failure",
        # A stream of events never ends, and a probe takes as long as what it tries.
        "--exclude-path", "/v1/events", "--exclude-path", "/v1/probe", "--request-timeout", "10", "--warnings", "off", "--no-color", "--suppress-health-check", "all",
    ]
    with tempfile.TemporaryDirectory() as directory:
        return subprocess.run(command, cwd=directory, env={**os.environ, "HOME": directory}).returncode


if __name__ == "__main__":
    sys.exit(fuzz(*sys.argv[1:]))
