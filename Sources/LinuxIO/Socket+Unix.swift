/// Stream sockets that have a path instead of an address, and who is at the other end of one.

internal import CLinux
internal import Glibc

/// Who has connected to a Unix socket, as the kernel knows it (SO_PEERCRED).
public struct PeerCredentials: Equatable, Sendable {
    public var user: UInt32
    public var group: UInt32
    public var process: Int32

    public init(user: UInt32, group: UInt32, process: Int32) {
        self.user = user
        self.group = group
        self.process = process
    }
}

extension Socket {
    /// The longest path of a Unix socket, in octets.
    public static let longestPath = 107

    /// Listens at a path that only its owner and a group may connect to (mode 0660).
    ///
    /// A socket that a killed process has left there is replaced, also while a program that it was just starting keeps
    /// it open; one that somebody still listens at is not (EADDRINUSE), and neither is anything that is no socket. With
    /// a group, the socket is given to it before anybody can connect.
    public static func listenUnix(
        at path: String, group: UInt32? = nil, backlog: Int = 64
    ) throws(SystemCallError) -> Socket {
        try removeAbandoned(path)
        let socket = try openUnix()
        // For the moment between `bind` and `chmod`: nobody but the owner.
        let before = umask(0o177)
        let result = unsafe withPath(path) { unsafe Glibc.bind(socket.descriptor.number, $0, $1) }
        let reason = errno
        _ = umask(before)
        guard result == 0 else { throw SystemCallError("bind", path, negative: -reason) }
        if let group {
            guard unsafe chown(path, uid_t.max, gid_t(group)) == 0 else { throw .last("chown", path) }
        }
        guard unsafe chmod(path, 0o660) == 0 else { throw .last("chmod", path) }
        guard Glibc.listen(socket.descriptor.number, CInt(clamping: backlog)) == 0 else { throw .last("listen", path) }
        return socket
    }

    /// Connects to the socket at a path; EAGAIN where too many wait there already.
    public static func connectUnix(to path: String) throws(SystemCallError) -> Socket {
        let socket = try openUnix()
        let result = unsafe withPath(path) { address, length in
            CInt(retrying { unsafe Int(connect(socket.descriptor.number, address, length)) })
        }
        guard result >= 0 else { throw SystemCallError("connect", path, negative: result) }
        return socket
    }

    /// Takes the next connection of a socket that listens at a path.
    ///
    /// Nil when nobody waits, or nobody can be taken just now.
    public func acceptUnix() -> UnixPeer? {
        let number = retrying { Int(clinux_accept(descriptor.number, nil, nil)) }
        guard number >= 0 else { return nil }
        let socket = Socket(owning: OwnedDescriptor(owning: CInt(number)))
        guard let peer = socket.peerCredentials else { return nil }
        return UnixPeer(socket: socket, credentials: peer)
    }

    /// Removes the socket at a path; nothing there is no error.
    public static func remove(_ path: String) { _ = unsafe unlink(path) }

    private static func openUnix() throws(SystemCallError) -> Socket {
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(AF_UNIX, type, 0)
        guard number >= 0 else { throw .last("socket") }
        return Socket(owning: OwnedDescriptor(owning: number))
    }

    private static func removeAbandoned(_ path: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            let socket = try connectUnix(to: path)
            guard !socket.isOrphaned else { return remove(path) }
        } catch {
            // Nobody listens at what is a socket: its owner is gone.
            if error.errno == .connectionRefused { remove(path) }
            return
        }
        throw SystemCallError("bind", path, negative: -EADDRINUSE)
    }

    /// Whether the process that began to listen at the other end is gone.
    ///
    /// A child of its may have the descriptor for as long as it takes from fork to exec. A process of another PID
    /// namespace has the number 0 here, and counts as there.
    private var isOrphaned: Bool {
        guard let owner = peerCredentials?.process, owner > 0 else { return false }
        return kill(owner, 0) < 0 && errno == ESRCH
    }

    /// Who is at the other end; for one that has connected, who listens there.
    public var peerCredentials: PeerCredentials? {
        var peer = PeerCredentials(user: 0, group: 0, process: 0)
        let result = unsafe clinux_peer_credentials(descriptor.number, &peer.user, &peer.group, &peer.process)
        return result == 0 ? peer : nil
    }

    /// Lends a path as a `sockaddr` for one call; one that is too long has none.
    private static func withPath(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var form = sockaddr_un()
        form.sun_family = sa_family_t(AF_UNIX)
        let octets = Array(path.utf8)
        guard octets.count <= longestPath, !octets.contains(0) else {
            errno = ENAMETOOLONG
            return -1
        }
        unsafe withUnsafeMutableBytes(of: &form.sun_path) { space in unsafe space.copyBytes(from: octets) }
        // Safe: every sockaddr form begins with the members of sockaddr, and its true length goes with it.
        return unsafe withUnsafePointer(to: &form) { form in
            unsafe form.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// A connection that came in at a path.
public struct UnixPeer: ~Copyable, Sendable {
    public var socket: Socket
    public let credentials: PeerCredentials

    /// Hands the socket over.
    public consuming func takeSocket() -> Socket { socket }
}
