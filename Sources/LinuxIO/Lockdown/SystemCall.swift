/// Which system calls the daemon may make once it runs, and which end it.
///
/// The list is what `scripts/syscalls` saw in the lab, with what the C library does instead on other kernels and
/// machines, and what a crash needs to leave its core. What is not in it fails with EPERM; so whoever makes the daemon
/// do something new runs the script again.

internal import Glibc

/// A system call by its name, with its number on x86-64 and on AArch64 (nil: it has none there).
struct SystemCall: Equatable, Sendable {
    /// What becomes of a call.
    enum Verdict: Equatable, Sendable {
        case allowed
        /// Allowed where its arguments are of the right kind, otherwise EPERM.
        case allowedIf(ArgumentTest)
        /// The call fails with an error number.
        case fails(CInt)
        /// The process is ended at once, with a core.
        case deadly
    }

    let name: String
    let x86: UInt32?
    let arm: UInt32?
    let verdict: Verdict

    init(_ name: String, _ x86: UInt32?, _ arm: UInt32?, _ verdict: Verdict = .allowed) {
        self.name = name
        self.x86 = x86
        self.arm = arm
        self.verdict = verdict
    }

    /// The newest number that this list knows (mseal, Linux 6.10).
    ///
    /// What is newer does not exist, as far as the C library is told: then it does without.
    static let newest: UInt32 = 462

    /// All that is not refused.
    static let allowed: [SystemCall] = [
        // Files: configuration and lists, the store, logs, captures, /proc, /sys
        SystemCall("read", 0, 63),
        SystemCall("write", 1, 64),
        SystemCall("readv", 19, 65),
        SystemCall("writev", 20, 66),
        SystemCall("pread64", 17, 67),
        SystemCall("pwrite64", 18, 68),
        SystemCall("close", 3, 57),
        SystemCall("open", 2, nil),
        SystemCall("openat", 257, 56),
        SystemCall("stat", 4, nil),
        SystemCall("lstat", 6, nil),
        SystemCall("fstat", 5, 80),
        SystemCall("newfstatat", 262, 79),
        SystemCall("statx", 332, 291),
        SystemCall("statfs", 137, 43),
        SystemCall("fstatfs", 138, 44),
        SystemCall("lseek", 8, 62),
        SystemCall("access", 21, nil),
        SystemCall("faccessat", 269, 48),
        SystemCall("faccessat2", 439, 439),
        SystemCall("readlink", 89, nil),
        SystemCall("readlinkat", 267, 78),
        SystemCall("getcwd", 79, 17),
        SystemCall("getdents64", 217, 61),
        SystemCall("fcntl", 72, 25),
        SystemCall("flock", 73, 32),
        SystemCall("fsync", 74, 82),
        SystemCall("fdatasync", 75, 83),
        SystemCall("ftruncate", 77, 46),
        SystemCall("rename", 82, nil),
        SystemCall("renameat", 264, 38),
        SystemCall("renameat2", 316, 276),
        SystemCall("mkdir", 83, nil),
        SystemCall("mkdirat", 258, 34),
        SystemCall("unlink", 87, nil),
        SystemCall("unlinkat", 263, 35),

        // Pipes and sockets
        SystemCall("pipe2", 293, 59),
        SystemCall("splice", 275, 76),
        SystemCall("connect", 42, 203),
        SystemCall("accept", 43, 202),
        SystemCall("accept4", 288, 242),
        SystemCall("bind", 49, 200),
        SystemCall("listen", 50, 201),
        SystemCall("shutdown", 48, 210),
        SystemCall("getsockname", 51, 204),
        SystemCall("getpeername", 52, 205),
        SystemCall("getsockopt", 55, 209),
        SystemCall("setsockopt", 54, 208),
        SystemCall("sendto", 44, 206),
        SystemCall("recvfrom", 45, 207),
        SystemCall("sendmsg", 46, 211),
        SystemCall("recvmsg", 47, 212),
        SystemCall("sendmmsg", 307, 269),
        SystemCall("recvmmsg", 299, 243),

        // Waiting
        SystemCall("poll", 7, nil),
        SystemCall("ppoll", 271, 73),
        SystemCall("select", 23, nil),
        SystemCall("pselect6", 270, 72),
        SystemCall("epoll_create1", 291, 20),
        SystemCall("epoll_ctl", 233, 21),
        SystemCall("epoll_wait", 232, nil),
        SystemCall("epoll_pwait", 281, 22),
        SystemCall("epoll_pwait2", 441, 441),
        SystemCall("eventfd2", 290, 19),
        SystemCall("nanosleep", 35, 101),
        SystemCall("clock_nanosleep", 230, 115),
        SystemCall("restart_syscall", 219, 128),
        SystemCall("wait4", 61, 260),
        SystemCall("waitid", 247, 95),

        // Memory
        SystemCall("munmap", 11, 215),
        SystemCall("mremap", 25, 216),
        SystemCall("madvise", 28, 233),
        SystemCall("brk", 12, 214),
        SystemCall("mincore", 27, 232),
        SystemCall("membarrier", 324, 283),

        // Threads and signals
        SystemCall("futex", 202, 98),
        SystemCall("set_robust_list", 273, 99),
        SystemCall("rseq", 334, 293),
        SystemCall("exit", 60, 93),
        SystemCall("exit_group", 231, 94),
        SystemCall("sched_yield", 24, 124),
        SystemCall("sched_getaffinity", 204, 123),
        SystemCall("rt_sigaction", 13, 134),
        SystemCall("rt_sigprocmask", 14, 135),
        SystemCall("rt_sigreturn", 15, 139),
        SystemCall("sigaltstack", 131, 132),
        SystemCall("gettid", 186, 178),
        SystemCall("getpid", 39, 172),
        SystemCall("getppid", 110, 173),

        // The time, chance, and what the machine and the process are
        SystemCall("clock_gettime", 228, 113),
        SystemCall("clock_getres", 229, 114),
        SystemCall("gettimeofday", 96, 169),
        SystemCall("time", 201, nil),
        SystemCall("clock_adjtime", 305, 266),
        SystemCall("adjtimex", 159, 171),
        SystemCall("getrandom", 318, 278),
        SystemCall("uname", 63, 160),
        SystemCall("sysinfo", 99, 179),
        SystemCall("getrusage", 98, 165),
        SystemCall("times", 100, 153),
        SystemCall("getrlimit", 97, 163),
        SystemCall("prlimit64", 302, 261),
        SystemCall("getuid", 102, 174),
        SystemCall("geteuid", 107, 175),
        SystemCall("getgid", 104, 176),
        SystemCall("getegid", 108, 177),
        SystemCall("getcpu", 309, 168),

        // Under conditions
        SystemCall("socket", 41, 198, .allowedIf(.families)),
        SystemCall("ioctl", 16, 29, .allowedIf(.requests)),
        SystemCall("prctl", 157, 167, .allowedIf(.options)),
        SystemCall("clone", 56, 220, .allowedIf(.threads)),
        SystemCall("mmap", 9, 222, .allowedIf(.notWritableAndExecutable)),
        SystemCall("mprotect", 10, 226, .allowedIf(.notExecutable)),
        // Its arguments are in memory, where no filter sees them; the C library then takes clone.
        SystemCall("clone3", 435, 435, .fails(ENOSYS)),
    ]

    /// What nobody calls by mistake: running programs, looking into processes, loading code into the kernel.
    static let deadly: [SystemCall] = [
        SystemCall("execve", 59, 221, .deadly),
        SystemCall("execveat", 322, 281, .deadly),
        SystemCall("ptrace", 101, 117, .deadly),
        SystemCall("process_vm_readv", 310, 270, .deadly),
        SystemCall("process_vm_writev", 311, 271, .deadly),
        SystemCall("process_madvise", 440, 440, .deadly),
        SystemCall("pidfd_getfd", 438, 438, .deadly),
        SystemCall("init_module", 175, 105, .deadly),
        SystemCall("finit_module", 313, 273, .deadly),
        SystemCall("delete_module", 176, 106, .deadly),
        SystemCall("kexec_load", 246, 104, .deadly),
        SystemCall("kexec_file_load", 320, 294, .deadly),
        SystemCall("bpf", 321, 280, .deadly),
    ]

    /// A signal to a thread of the process itself, as a crash sends it.
    static func ownThreads(of process: UInt32) -> SystemCall {
        SystemCall("tgkill", 234, 131, .allowedIf(.oneOf(argument: 0, [process])))
    }
}
