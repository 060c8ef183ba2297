/// The filter of system calls, run by a machine of our own; what it must say is the table's and the kernel's headers'.

import Glibc
import Testing

@testable import LinuxIO

@Suite struct FilterTests {
    private static let allow: UInt32 = 0x7fff_0000
    private static let kill: UInt32 = 0x8000_0000
    private static func fail(_ errno: CInt) -> UInt32 { 0x0005_0000 | UInt32(errno) }

    private static let process: UInt32 = 4711

    private static let filters = Dictionary(
        uniqueKeysWithValues: SystemCallFilter.Machine.allCases.map {
            ($0, SystemCallFilter(for: $0, process: process))
        })

    private static func answer(
        _ machine: SystemCallFilter.Machine, _ number: UInt32, _ arguments: UInt64..., architecture: UInt32? = nil
    ) throws -> UInt32 {
        let filter = try #require(filters[machine])
        let call = FilteredCall(
            number: number, architecture: architecture ?? machine.rawValue, arguments: arguments)
        return try FilterMachine.answer(filter.instructions, to: call)
    }

    @Test("the kernel takes it: few enough instructions, and every way through it ends", arguments: [true, false])
    func isWhole(isIntel: Bool) throws {
        let machine: SystemCallFilter.Machine = isIntel ? .x86 : .arm
        let instructions = SystemCallFilter(for: machine, process: 1).instructions
        // BPF_MAXINSNS of linux/bpf_common.h.
        #expect(instructions.count < 4096)
        #expect(MemoryLayout<FilterInstruction>.stride == 8, "struct sock_filter")
        for number in 0...UInt32(1000) { _ = try Self.answer(machine, number) }
    }

    @Test("each listed call has its verdict on both machines, and each other number fails with EPERM")
    func table() throws {
        for machine in SystemCallFilter.Machine.allCases {
            var verdicts: [UInt32: SystemCall.Verdict] = [:]
            for call in SystemCall.allowed + SystemCall.deadly {
                guard let number = machine.number(of: call) else { continue }
                #expect(verdicts[number] == nil, "\(call.name) stands twice")
                verdicts[number] = call.verdict
            }
            for number in 0...SystemCall.newest {
                let answer = try Self.answer(machine, number)
                switch verdicts[number] {
                case .allowed: #expect(answer == Self.allow, "\(number)")
                case .deadly: #expect(answer == Self.kill, "\(number)")
                case .fails(let errno): #expect(answer == Self.fail(errno), "\(number)")
                case .allowedIf: break
                case nil: #expect(answer == Self.fail(EPERM), "\(number)")
                }
            }
            #expect(try Self.answer(machine, SystemCall.newest + 1) == Self.fail(ENOSYS))
            #expect(try Self.answer(machine, .max) == Self.fail(ENOSYS))
        }
    }

    @Test(
        "what runs a program, looks into a process or loads code ends the process, by the kernel's numbers",
        arguments: [
            (SystemCallFilter.Machine.x86, [59, 322, 101, 310, 311, 175, 313, 246, 320, 321] as [UInt32]),
            (.arm, [221, 281, 117, 270, 271, 105, 273, 104, 294, 280]),
        ])
    func deadly(machine: SystemCallFilter.Machine, numbers: [UInt32]) throws {
        for number in numbers { #expect(try Self.answer(machine, number) == Self.kill, "\(number)") }
    }

    @Test("a call of another architecture ends the process, and one of x32 does not exist")
    func architecture() throws {
        // AUDIT_ARCH_I386; read(2) has number 3 there, which is close(2) here.
        #expect(try Self.answer(.x86, 3, architecture: 0x4000_0003) == Self.kill)
        #expect(try Self.answer(.x86, 0, architecture: SystemCallFilter.Machine.arm.rawValue) == Self.kill)
        // __X32_SYSCALL_BIT and execve of x32.
        #expect(try Self.answer(.x86, 0x4000_0000 | 520) == Self.fail(ENOSYS))
    }

    private static let clones: [(flags: UInt64, answer: UInt32)] = [
        // What pthread_create asks of the kernel (glibc, createthread.c).
        (0x3d_0f00, allow),
        // fork, vfork, posix_spawn.
        (0x0120_0011, fail(EPERM)), (0x4111, fail(EPERM)), (0x11, fail(EPERM)),
        // A thread in a user namespace of its own, and in a network namespace.
        (0x103d_0f00, fail(EPERM)), (0x403d_0f00, fail(EPERM)),
    ]

    @Test("threads are made, processes and namespaces are not (clone's first argument)", arguments: clones)
    func threads(flags: UInt64, answer: UInt32) throws {
        #expect(try Self.answer(.x86, 56, flags) == answer)
        #expect(try Self.answer(.arm, 220, flags) == answer)
        // clone3 hides its flags in memory: the C library has to take clone.
        #expect(try Self.answer(.x86, 435, flags) == Self.fail(ENOSYS))
    }

    private static let protections: [(protection: UInt64, mapped: UInt32, changed: UInt32)] = [
        (0, allow, allow), (1, allow, allow), (3, allow, allow), (5, allow, fail(EPERM)),
        (7, fail(EPERM), fail(EPERM)), (6, fail(EPERM), fail(EPERM)),
    ]

    @Test("memory is never written and run: mmap and mprotect", arguments: protections)
    func memory(protection: UInt64, mapped: UInt32, changed: UInt32) throws {
        #expect(try Self.answer(.x86, 9, 0, 4096, protection) == mapped)
        #expect(try Self.answer(.x86, 10, 0, 4096, protection) == changed)
        #expect(try Self.answer(.arm, 222, 0, 4096, protection) == mapped)
        #expect(try Self.answer(.arm, 226, 0, 4096, protection) == changed)
    }

    @Test("sockets of the Internet, of this machine and of the kernel alone")
    func families() throws {
        for family in [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] {
            #expect(try Self.answer(.x86, 41, UInt64(family)) == Self.allow)
        }
        for family in [AF_PACKET, AF_ALG, AF_VSOCK, 0, 255] {
            #expect(try Self.answer(.x86, 41, UInt64(family)) == Self.fail(EPERM))
        }
    }

    @Test("ioctl: questions about queues and interfaces; never input for a terminal, never a TUN device")
    func requests() throws {
        for request: UInt64 in [0x5411, 0x8921, 0x8933] {
            #expect(try Self.answer(.x86, 16, 3, request) == Self.allow)
        }
        // TIOCSTI, TIOCLINUX, TUNSETIFF.
        for request: UInt64 in [0x5412, 0x541c, 0x4004_54ca] {
            #expect(try Self.answer(.x86, 16, 3, request) == Self.fail(EPERM))
        }
    }

    @Test("a signal goes to threads of the process itself, and prctl gives no right back")
    func others() throws {
        #expect(try Self.answer(.x86, 234, UInt64(Self.process), 4712, 6) == Self.allow)
        #expect(try Self.answer(.x86, 234, 1, 1, 9) == Self.fail(EPERM))
        // PR_SET_NAME; PR_SET_SECUREBITS, PR_SET_DUMPABLE, PR_SET_SECCOMP.
        #expect(try Self.answer(.arm, 167, 15) == Self.allow)
        for option: UInt64 in [28, 4, 22] { #expect(try Self.answer(.arm, 167, option) == Self.fail(EPERM)) }
    }

    @Test("numbers are those of the kernel's headers, where these are installed")
    func headers() throws {
        let places: [(machine: SystemCallFilter.Machine, path: String, prefixes: [String])] = [
            (.x86, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", ["__NR_"]),
            (.arm, "/usr/include/asm-generic/unistd.h", ["__NR_", "__NR3264_"]),
        ]
        for place in places {
            guard let bytes = try? SmallFile.read(place.path, limit: 1 << 20) else { continue }
            var numbers: [String: UInt32] = [:]
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                let words = line.split(separator: " ").map(String.init)
                guard words.count == 3, words[0] == "#define", let number = UInt32(words[2]) else { continue }
                for prefix in place.prefixes where words[1].hasPrefix(prefix) {
                    numbers[String(words[1].dropFirst(prefix.count))] = number
                }
            }
            // The newer names of two calls in the file for all machines.
            numbers["newfstatat"] = numbers["newfstatat"] ?? numbers["fstatat"]
            let calls = SystemCall.allowed + SystemCall.deadly + [SystemCall.ownThreads(of: 1)]
            for call in calls {
                guard let number = place.machine.number(of: call) else { continue }
                #expect(numbers[call.name] == nil || numbers[call.name] == number, "\(call.name)")
            }
            #expect(calls.count { numbers[$0.name] != nil } > 100, "\(place.path)")
        }
    }
}
