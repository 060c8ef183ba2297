/// What is said to the service manager: the datagrams of sd_notify(3).
///
/// The manager names a socket in NOTIFY_SOCKET: a path, or with `@` in front a name in the abstract namespace
/// (unix(7)). One datagram holds assignments, one a line. WATCHDOG_USEC is how long the manager waits for the next
/// WATCHDOG=1 before it takes the process for stuck; it means us unless WATCHDOG_PID names another process
/// (sd_watchdog_enabled(3)).

public import Bytes
internal import CLinux
internal import Glibc

/// What there is to say.
public enum ServiceNews: Equatable, Sendable {
    /// The start, or a reload, is complete.
    case ready
    /// One line for people, as `systemctl status` shows it.
    case status(String)
    /// The configuration is read again since this moment; `ready` has to follow.
    case reloading(since: Instant)
    case stopping
    /// Everything that has to make progress makes it.
    case alive

    /// The assignments of a datagram.
    public var text: String {
        switch self {
        case .ready: "READY=1"
        case .status(let line): "STATUS=\(line.split(whereSeparator: \.isNewline).joined(separator: " "))"
        case .reloading(let moment): "RELOADING=1\nMONOTONIC_USEC=\(moment.nanoseconds / 1000)"
        case .stopping: "STOPPING=1"
        case .alive: "WATCHDOG=1"
        }
    }
}

/// The way to the service manager that has started this process.
public final class ServiceManager: Sendable {
    /// How long the manager waits for a sign of life; nil: it does not wait for any.
    public let patience: Interval?
    /// The name of the manager's socket, as the kernel takes it.
    private let name: [UInt8]
    private let descriptor: OwnedDescriptor

    /// How long a datagram may wait for a manager that is behind.
    private static let delay = timeval(tv_sec: 0, tv_usec: 500_000)

    /// The manager that the process's environment names; nil where nobody waits for news.
    public static func fromEnvironment() -> ServiceManager? {
        guard let socket = Environment["NOTIFY_SOCKET"] else { return nil }
        return ServiceManager(
            socket: socket, patience: Environment["WATCHDOG_USEC"], of: Environment["WATCHDOG_PID"], process: getpid())
    }

    /// Takes the values of NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID; nil for a socket of another kind.
    public init?(socket: String, patience: String?, of watched: String?, process: Int32) {
        var name = Array(socket.utf8)
        guard name.count > 1, name.count <= Socket.longestPath, !name.contains(0) else { return nil }
        switch name[0] {
        case UInt8(ascii: "/"): break
        case UInt8(ascii: "@"): name[0] = 0
        default: return nil
        }
        let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(AF_UNIX, type, 0)
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(owning: number)
        var delay = Self.delay
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &delay, socklen_t(MemoryLayout<timeval>.size))
        self.name = name
        let isOurs = watched.map { Int32($0) == process } ?? true
        // More than a century makes no difference, and would not fit.
        let microseconds = min(patience.flatMap { Int64($0) } ?? 0, 1 << 52)
        self.patience = isOurs && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Says something, all of it in one datagram; returns whether the manager got it.
    @discardableResult
    public func say(_ news: ServiceNews...) -> Bool {
        let bytes = Array(news.map(\.text).joined(separator: "\n").utf8)
        var form = sockaddr_un()
        form.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &form.sun_path) { space in unsafe space.copyBytes(from: name) }
        // An abstract name ends where its length says, a path with the NUL behind it.
        let before = MemoryLayout<sa_family_t>.size
        let length = socklen_t(before + name.count + (name[0] == 0 ? 0 : 1))
        // Safe: every sockaddr form begins with the members of sockaddr, and its true length goes with it.
        let count = unsafe withUnsafePointer(to: &form) { form in
            unsafe form.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                retrying {
                    unsafe sendto(descriptor.number, bytes, bytes.count, CInt(MSG_NOSIGNAL), address, length)
                }
            }
        }
        return count == bytes.count
    }
}
