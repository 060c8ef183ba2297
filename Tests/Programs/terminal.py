"""Runs a program on a terminal of its own: what it prints, errors too, and its exit status as the last line.

    terminal.py INPUT PROGRAM ARGUMENT…
"""

import os
import pty
import sys

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
os.write(terminal, sys.argv[1].encode())
output = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    output += piece
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(output)
print("\nexit %d" % os.waitstatus_to_exitcode(status))
