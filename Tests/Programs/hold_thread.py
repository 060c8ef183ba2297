#!/usr/bin/python3
"""Has one thread of a process stand still (ptrace(2)), and says what becomes of the process.

    hold_thread.py PID NAME SECONDS        prints `held`, then `gone` when the process ends within the time

A stop signal would stop all threads; a tracer stops the one that it has seized.
"""
import ctypes
import os
import sys
import time

SEIZE, INTERRUPT = 0x4206, 0x4207
WALL = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def trace(request, thread):
    if libc.ptrace(request, thread, None, None) != 0:
        sys.exit(f"ptrace {request:#x}: {os.strerror(ctypes.get_errno())}")


def thread_of(process, name):
    """The first thread of this name; the main thread has that of the program."""
    for thread in sorted(os.listdir(f"/proc/{process}/task"), key=int):
        with open(f"/proc/{process}/task/{thread}/comm") as comm:
            if comm.read().strip() == name:
                return int(thread)
    sys.exit(f"no thread {name}")


def main():
    process, name, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    thread = thread_of(process, name)
    trace(SEIZE, thread)
    trace(INTERRUPT, thread)
    print("held", flush=True)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        # A thread that was killed stays until its tracer has heard of it.
        try:
            _, status = os.waitpid(thread, os.WNOHANG | WALL)
            if status and (os.WIFSIGNALED(status) or os.WIFEXITED(status)):
                break
        except ChildProcessError:
            break
        if not os.path.exists(f"/proc/{process}"):
            break
        time.sleep(0.05)
    else:
        print("still there")
        return
    print("gone")


main()
