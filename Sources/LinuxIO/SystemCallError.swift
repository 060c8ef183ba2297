/// A system call that failed, said in the way that an operator can look up: call, subject, reason.

/// What the kernel refused: `ioctl TUNSETIFF bad/name: Invalid argument`.
public struct SystemCallError: Error, Equatable, Sendable, CustomStringConvertible {
    public let call: String

    /// What the call was about, in words of the configuration.
    public let subject: String?

    public let errno: ErrorNumber

    public init(_ call: String, _ subject: String? = nil, errno: ErrorNumber) {
        self.call = call
        self.subject = subject
        self.errno = errno
    }

    /// Takes the reason from a negative errno, the way in which `CLinux` returns it.
    init(_ call: String, _ subject: String? = nil, negative result: CInt) {
        self.init(call, subject, errno: ErrorNumber(rawValue: -result))
    }

    /// Takes the reason of this thread's last failed call.
    static func last(_ call: String, _ subject: String? = nil) -> SystemCallError {
        let reason = ErrorNumber.last
        return SystemCallError(call, subject, errno: reason)
    }

    public var description: String {
        guard let subject else { return "\(call): \(errno)" }
        return "\(call) \(subject): \(errno)"
    }
}
