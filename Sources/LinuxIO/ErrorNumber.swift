/// The kernel's reasons (errno) under names that other modules can use without Glibc.

internal import CLinux
internal import Glibc

/// Why a system call failed.
public struct ErrorNumber: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: CInt

    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// The reason of this thread's last failed call.
    static var last: ErrorNumber { ErrorNumber(rawValue: errno) }

    public static let addressInUse = ErrorNumber(rawValue: EADDRINUSE)
    public static let addressNotAvailable = ErrorNumber(rawValue: EADDRNOTAVAIL)
    public static let accessDenied = ErrorNumber(rawValue: EACCES)
    public static let badDescriptor = ErrorNumber(rawValue: EBADF)
    public static let brokenPipe = ErrorNumber(rawValue: EPIPE)
    public static let busy = ErrorNumber(rawValue: EBUSY)
    public static let connectionAborted = ErrorNumber(rawValue: ECONNABORTED)
    public static let connectionRefused = ErrorNumber(rawValue: ECONNREFUSED)
    public static let connectionReset = ErrorNumber(rawValue: ECONNRESET)
    /// EBADFD: the TUN device behind the descriptor was removed.
    public static let descriptorInBadState = ErrorNumber(rawValue: EBADFD)
    /// EAFNOSUPPORT: the kernel has no IPv6.
    public static let familyNotSupported = ErrorNumber(rawValue: EAFNOSUPPORT)
    public static let fileExists = ErrorNumber(rawValue: EEXIST)
    public static let hostUnreachable = ErrorNumber(rawValue: EHOSTUNREACH)
    /// EIO: among others, a packet was written to a TUN device that is set down.
    public static let inputOutput = ErrorNumber(rawValue: EIO)
    public static let invalidArgument = ErrorNumber(rawValue: EINVAL)
    /// EMSGSIZE: the datagram does not fit the path.
    public static let messageTooLong = ErrorNumber(rawValue: EMSGSIZE)
    public static let networkDown = ErrorNumber(rawValue: ENETDOWN)
    public static let networkUnreachable = ErrorNumber(rawValue: ENETUNREACH)
    public static let noSuchDevice = ErrorNumber(rawValue: ENODEV)
    /// ENXIO: a device file without a driver.
    public static let noSuchDeviceOrAddress = ErrorNumber(rawValue: ENXIO)
    public static let noSuchFile = ErrorNumber(rawValue: ENOENT)
    public static let notConnected = ErrorNumber(rawValue: ENOTCONN)
    public static let notPermitted = ErrorNumber(rawValue: EPERM)
    /// EOPNOTSUPP: there is no such thing here.
    public static let notSupported = ErrorNumber(rawValue: EOPNOTSUPP)
    public static let outOfMemory = ErrorNumber(rawValue: ENOMEM)
    /// EROFS: the file system is mounted for reading alone.
    public static let readOnlyFileSystem = ErrorNumber(rawValue: EROFS)
    public static let timedOut = ErrorNumber(rawValue: ETIMEDOUT)
    /// EMFILE: this process has no descriptor left.
    public static let tooManyOpenFiles = ErrorNumber(rawValue: EMFILE)
    /// ENFILE: the machine has no descriptor left.
    public static let tooManyOpenFilesInSystem = ErrorNumber(rawValue: ENFILE)

    /// Whether descriptors ran out: for a while nothing can be opened, and what is open works on.
    public var isDescriptorShortage: Bool { self == .tooManyOpenFiles || self == .tooManyOpenFilesInSystem }

    public var description: String {
        // Safe: the text is static memory of the C library.
        guard let text = unsafe clinux_error_text(rawValue) else { return "error \(rawValue)" }
        return unsafe String(cString: text)
    }
}
