/// A kernel that knows less: a seccomp filter makes one ioctl fail on the thread that installs it.

import Glibc
import LinuxIO
import Testing

enum KernelRefusal: UInt32, Sendable {
    /// TUNSETVNETHDRSZ: _IOW('T', 216, int).
    case headerLength = 0x4004_54d8
    /// TUNSETOFFLOAD: _IOW('T', 208, unsigned int).
    case offload = 0x4004_54d0

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

    /// Makes the ioctl answer EINVAL on this thread from now on.
    func install() throws {
        // seccomp_data: the number of the call at 0, the low half of its second argument at 24.
        let filters = [
            Filter(code: 0x20, ifTrue: 0, ifFalse: 0, value: 0),
            Filter(code: 0x15, ifTrue: 0, ifFalse: 3, value: Self.ioctlNumber),
            Filter(code: 0x20, ifTrue: 0, ifFalse: 0, value: 24),
            Filter(code: 0x15, ifTrue: 0, ifFalse: 1, value: rawValue),
            Filter(code: 0x06, ifTrue: 0, ifFalse: 0, value: 0x0005_0000 | UInt32(EINVAL)),
            Filter(code: 0x06, ifTrue: 0, ifFalse: 0, value: 0x7fff_0000),
        ]
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
