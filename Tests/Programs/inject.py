"""Has a running program make a system call that is not its own: inject.py PID NUMBER [ARGUMENT...]

Says what the call returned (a negative error number), or which signal ended the program; x86-64 alone. It does what a
debugger does: the main thread is stopped, its registers are those of the call for one instruction, and are put back.
"""

import ctypes
import os
import sys

ATTACH, DETACH, SINGLE_STEP, PEEK, GET_REGISTERS, SET_REGISTERS = 16, 17, 9, 1, 12, 13
WAIT_ALL = 0x40000000
NAMES = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs"
)


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in NAMES.split()]


libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def trace(request, pid, address=None, data=None):
    ctypes.set_errno(0)
    result = libc.ptrace(request, pid, address, data)
    if ctypes.get_errno():
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def main():
    pid, number = int(sys.argv[1]), int(sys.argv[2])
    arguments = [int(word, 0) for word in sys.argv[3:]] + [0] * 6
    trace(ATTACH, pid)
    os.waitpid(pid, WAIT_ALL)
    former = Registers()
    trace(GET_REGISTERS, pid, None, ctypes.byref(former))
    # It waits in a system call, so the instruction before is `syscall`.
    place = former.rip - 2
    if trace(PEEK, pid, place) & 0xFFFF != 0x050F:
        trace(DETACH, pid)
        sys.exit("the program is not in a system call")
    call = Registers.from_buffer_copy(former)
    call.rip, call.rax, call.orig_rax = place, number, 2**64 - 1
    call.rdi, call.rsi, call.rdx, call.r10, call.r8, call.r9 = arguments[:6]
    trace(SET_REGISTERS, pid, None, ctypes.byref(call))
    trace(SINGLE_STEP, pid)
    _, status = os.waitpid(pid, WAIT_ALL)
    if os.WIFSIGNALED(status):
        print(f"ended by signal {os.WTERMSIG(status)}")
        return
    after = Registers()
    trace(GET_REGISTERS, pid, None, ctypes.byref(after))
    print(f"returned {ctypes.c_longlong(after.rax).value}")
    trace(SET_REGISTERS, pid, None, ctypes.byref(former))
    trace(DETACH, pid)


main()
