/// A kernel that knows less: a seccomp filter makes one call fail on the thread that installs it.

import Glibc
import LinuxIO
import Testing

enum KernelRefusal: Sendable {
    /// The 12-byte form of the virtio-net header (TUNSETVNETHDRSZ) is unknown: EINVAL.
    case headerLength
    /// Offloads (TUNSETOFFLOAD) are unknown: EINVAL.
    case offload
    /// epoll_pwait2 is unknown: ENOSYS, as before Linux 5.11.
    case preciseWait

    /// The refused value of ioctl's second argument: _IOW('T', 216, int) and _IOW('T', 208, unsigned int).
    private var request: UInt32? {
        switch self {
        case .headerLength: 0x4004_54d8
        case .offload: 0x4004_54d0
        case .preciseWait: nil
        }
    }

    private struct Filter {
        var code: UInt16
        var ifTrue: UInt8
        var ifFalse: UInt8
        var value: UInt32
    }

    @unsafe private struct Program {
        var length: UInt16
        var filters: UnsafePointer<Filter>
    }

    /// Makes the call fail on this thread from now on.
    func install() throws {
        // seccomp_data: the number of the call at 0, the low half of its second argument at 24.
        let tests: [(offset: UInt32, value: UInt32)] =
            if let request { [(0, Self.ioctlNumber), (24, request)] } else { [(0, 441)] }
        var filters: [Filter] = []
        for (index, test) in tests.enumerated() {
            let toTheEnd = UInt8(2 * (tests.count - index) - 1)
            filters.append(Filter(code: 0x20, ifTrue: 0, ifFalse: 0, value: test.offset))
            filters.append(Filter(code: 0x15, ifTrue: 0, ifFalse: toTheEnd, value: test.value))
        }
        let refusal = UInt32(request == nil ? ENOSYS : EINVAL)
        filters.append(Filter(code: 0x06, ifTrue: 0, ifFalse: 0, value: 0x0005_0000 | refusal))
        filters.append(Filter(code: 0x06, ifTrue: 0, ifFalse: 0, value: 0x7fff_0000))
        typealias Control = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
        guard let symbol = unsafe dlsym(nil, "prctl") else {
            throw SystemCallError("dlsym", "prctl", errno: .noSuchFile)
        }
        // prctl is variadic, which makes no difference to a caller that passes integers.
        let control = unsafe unsafeBitCast(symbol, to: Control.self)
        let result = unsafe filters.withUnsafeBufferPointer { filters in
            var program = unsafe Program(length: UInt16(filters.count), filters: filters.baseAddress!)
            return unsafe withUnsafePointer(to: &program) { program in
                _ = control(38, 1, 0, 0, 0)  // PR_SET_NO_NEW_PRIVS
                return control(22, 2, UInt(bitPattern: program), 0, 0)  // PR_SET_SECCOMP, SECCOMP_MODE_FILTER
            }
        }
        try #require(result == 0)
    }

    private static var ioctlNumber: UInt32 {
        #if arch(arm64)
        29
        #else
        16
        #endif
    }
}
