/// What is asked of a system call's arguments; only numbers can be, never what a pointer leads to.

internal import Glibc

/// A condition on the low half of one argument, counted from 0.
enum ArgumentTest: Equatable, Sendable {
    case oneOf(argument: Int, [UInt32])
    /// The masked bits have this value.
    case bits(argument: Int, mask: UInt32, are: UInt32)
    /// The masked bits have any other value.
    case bitsDiffer(argument: Int, mask: UInt32, from: UInt32)

    var argument: Int {
        switch self {
        case .oneOf(let argument, _), .bits(let argument, _, _), .bitsDiffer(let argument, _, _): argument
        }
    }

    /// No raw packets of an interface, no cryptography of the kernel, nothing exotic.
    static let families = oneOf(
        argument: 0, [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK].map { UInt32($0) })

    /// Our own questions (CLinux), and what the C library asks of streams and of interfaces' names.
    ///
    /// The TUN device has been set up by then.
    static let requests = oneOf(argument: 1, interfaceRequests + streamRequests)

    /// SIOCGIFNAME, SIOCGIFFLAGS, SIOCGIFMTU, SIOCGIFINDEX, SIOCGIFTXQLEN (linux/sockios.h).
    private static let interfaceRequests: [UInt32] = [0x8910, 0x8913, 0x8921, 0x8933, 0x8942]
    /// TCGETS, SIOCOUTQ, FIONREAD, FIONBIO (asm-generic/ioctls.h).
    private static let streamRequests: [UInt32] = [0x5401, 0x5411, 0x541b, 0x5421]

    /// PR_SET_NAME, PR_GET_NAME, PR_SET_TIMERSLACK, PR_SET_VMA (malloc names its memory).
    static let options = oneOf(argument: 0, [15, 16, 29, 0x5356_4d41])

    /// CLONE_THREAD, and none of the flags that make namespaces (linux/sched.h).
    static let threads = bits(argument: 0, mask: 0x0001_0000 | 0x7e02_0000, are: 0x0001_0000)

    /// PROT_WRITE and PROT_EXEC never together: code comes from files, as that of the resolver's plug-ins does.
    static let notWritableAndExecutable = bitsDiffer(argument: 2, mask: 6, from: 6)
    static let notExecutable = bits(argument: 2, mask: 4, are: 0)
}
