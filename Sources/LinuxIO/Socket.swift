/// Stream sockets: opening, accepting, closing. All are non-blocking and closed on exec.

public import Addresses
internal import CLinux
internal import Glibc

/// One stream socket, closed when the value goes away.
public struct Socket: ~Copyable, Sendable {
    public let descriptor: OwnedDescriptor

    /// Takes over an open stream socket, which must be non-blocking.
    public init(owning descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Begins a TCP connection, with TCP_NODELAY and, where given, the routing mark (SO_MARK).
    ///
    /// It stands when the socket is writable and `connectError` is nil. What the kernel knows at once
    /// (no route, no descriptor left, nobody listens on this machine) is thrown. Who speaks first, and at once, may
    /// have its first octets acknowledge the handshake (RFC 9293, section 3.10.7.3): a packet less, and the peer wakes
    /// once.
    public static func connectTCP(
        to address: SocketAddress, mark: UInt32? = nil, from source: IPAddress? = nil, speaksFirst: Bool = false
    ) throws(SystemCallError) -> Socket {
        let socket = try open(family: address.family, mark: mark)
        socket.setNoDelay()
        if speaksFirst { socket.holdBackAcknowledgement() }
        if let source { try socket.bind(to: SocketAddress(source, 0)) }
        let result = unsafe address.withSystemAddress { address, length in
            retrying { unsafe Int(connect(socket.descriptor.number, address, length)) }
        }
        guard result >= 0 || result == -Int(EINPROGRESS) else {
            throw SystemCallError("connect", "\(address)", negative: CInt(result))
        }
        return socket
    }

    /// Opens a listening TCP socket, marked before it listens so that what it accepts is marked too.
    ///
    /// An IPv6 listener takes IPv6 only. With `reusePort` several sockets share the address, and the kernel
    /// spreads the connections over them. An address that `mayComeLater` need not be this machine's yet (IP_FREEBIND).
    public static func listen(
        on address: SocketAddress, backlog: Int = 4096, mark: UInt32? = nil, reusePort: Bool = false,
        mayComeLater: Bool = false
    ) throws(SystemCallError) -> Socket {
        let socket = try open(family: address.family, mark: mark)
        try socket.set(SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR")
        if reusePort { try socket.set(SOL_SOCKET, SO_REUSEPORT, 1, "SO_REUSEPORT") }
        if !address.address.isIPv4 { try socket.set(CInt(IPPROTO_IPV6), IPV6_V6ONLY, 1, "IPV6_V6ONLY") }
        // On sockets of both families.
        if mayComeLater { try socket.set(CInt(IPPROTO_IP), IP_FREEBIND, 1, "IP_FREEBIND") }
        try socket.bind(to: address)
        guard Glibc.listen(socket.descriptor.number, CInt(clamping: backlog)) == 0 else {
            throw .last("listen", "\(address)")
        }
        return socket
    }

    /// Two connected stream sockets without a network.
    public static func pair() throws(SystemCallError) -> SocketPair {
        var numbers: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw .last("socketpair") }
        return SocketPair(
            first: Socket(owning: OwnedDescriptor(owning: numbers[0])),
            second: Socket(owning: OwnedDescriptor(owning: numbers[1])))
    }

    private static func open(family: CInt, mark: UInt32?) throws(SystemCallError) -> Socket {
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(family, type, 0)
        guard number >= 0 else { throw .last("socket") }
        let socket = Socket(owning: OwnedDescriptor(owning: number))
        if let mark { try socket.setMark(mark) }
        return socket
    }

    private func bind(to address: SocketAddress) throws(SystemCallError) {
        let result = unsafe address.withSystemAddress { unsafe Glibc.bind(descriptor.number, $0, $1) }
        guard result == 0 else { throw .last("bind", "\(address)") }
    }

    /// Why the connection failed, or nil when nothing is wrong (SO_ERROR); asking clears it.
    public func connectError() -> ErrorNumber? {
        var reason: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &reason, &length) == 0 else { return .last }
        return reason == 0 ? nil : ErrorNumber(rawValue: reason)
    }

    /// This end's address, or nil when the socket has none.
    public var localAddress: SocketAddress? {
        unsafe SocketAddress.filled { unsafe getsockname(descriptor.number, $0, $1) }.address
    }

    /// Where the peer of an accepted connection wanted to go before a firewall of this machine sent it here;
    /// `localAddress` where none did, nil where the kernel keeps no connections (SO_ORIGINAL_DST).
    public var originalDestination: SocketAddress? {
        guard let family = localAddress?.family else { return nil }
        return unsafe SocketAddress.filled { unsafe clinux_original_destination(descriptor.number, family, $0, $1) }
            .address
    }

    /// The other end's address, or nil when the socket is not connected (any more).
    public var peerAddress: SocketAddress? {
        unsafe SocketAddress.filled { unsafe getpeername(descriptor.number, $0, $1) }.address
    }

    /// Says that nothing more will be sent: the peer reads end of stream after what was sent before.
    ///
    /// On a socket that is not connected any more it does nothing.
    public func shutdownSend() {
        _ = shutdown(descriptor.number, CInt(SHUT_WR))
    }
}

/// Two sockets, each the other's peer.
public struct SocketPair: ~Copyable, Sendable {
    public var first: Socket
    public var second: Socket

    /// Hands the first one to the caller and closes the second.
    public consuming func takeFirst() -> Socket { first }
}
