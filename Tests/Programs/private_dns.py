"""A phone's private DNS: it asks one server over TLS (RFC 7858), and where that can't be had nobody.

    private_dns.py ADDRESS SERVER       takes questions at ADDRESS, port 53 of UDP, and prints "ready"
"""

import socket
import ssl
import sys
import threading


def ask(question, server):
    # Whose certificate it is does not matter here: nobody in the lab has a good one.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((server, 853), timeout=2) as plain, context.wrap_socket(plain) as connection:
        connection.sendall(len(question).to_bytes(2, "big") + question)
        stream = connection.makefile("rb")
        return stream.read(int.from_bytes(stream.read(2), "big"))


def answer(door, question, client, server):
    try:
        door.sendto(ask(question, server), client)
    except OSError:
        # SERVFAIL (RFC 1035, section 4.1.1), with the question as it came.
        door.sendto(question[:2] + b"\x81\x82" + question[4:6] + bytes(6) + question[12:], client)


def main(address, server):
    door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    door.bind((address, 53))
    print("ready", flush=True)
    while True:
        question, client = door.recvfrom(4096)
        threading.Thread(target=answer, args=(door, question, client, server), daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
