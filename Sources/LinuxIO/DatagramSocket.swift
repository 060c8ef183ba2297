/// UDP sockets: opening them, and datagrams in and out. All are non-blocking and closed on exec.
///
/// Each call is one system call and moves one datagram. A connected socket takes datagrams of its peer alone
/// and learns of the peer's ICMP errors; a bound one serves everybody, and can answer from the address that
/// was asked although the machine has several.

public import Addresses
internal import CLinux
internal import Glibc

/// Where a datagram came to: an address of this machine and an interface.
public struct LocalAddress: Hashable, Sendable {
    public var address: IPAddress
    /// The index of the interface; 0 leaves it to the route.
    public var interface: UInt32

    public init(_ address: IPAddress, interface: UInt32 = 0) {
        self.address = address
        self.interface = interface
    }
}

/// A datagram that was received; its bytes are in the buffer that was given.
public struct ReceivedDatagram: Equatable, Sendable {
    /// The octets in the buffer.
    public var count: Int
    /// Whether the datagram was longer than the buffer.
    public var isCut: Bool
    public var peer: SocketAddress
    /// Nil unless the socket reports it.
    public var local: LocalAddress?
}

/// What a receive brought.
public enum DatagramReceipt: Equatable, Sendable {
    case datagram(ReceivedDatagram)
    case wouldBlock
    /// What the network said about an earlier datagram (refused, unreachable); the socket works on.
    case failed(ErrorNumber)
}

/// What became of a datagram that was to be sent.
public enum DatagramSending: Equatable, Sendable {
    case sent
    /// There is no room at present; what this is about is lost, as a datagram may be.
    case wouldBlock
    /// It cannot be sent, or an earlier one was refused.
    case failed(ErrorNumber)
}

/// One UDP socket, closed when the value goes away.
public struct DatagramSocket: ~Copyable, Sendable {
    public let descriptor: OwnedDescriptor

    /// Takes over an open UDP socket, which must be non-blocking.
    public init(owning descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Opens a socket that serves an address; an IPv6 one takes IPv6 only.
    ///
    /// With `reportsLocal` each datagram says where it came to (IP_PKTINFO, IPV6_PKTINFO). An address that
    /// `mayComeLater` need not be this machine's yet (IP_FREEBIND).
    public static func bind(
        to address: SocketAddress, mark: UInt32? = nil, reportsLocal: Bool = false, mayComeLater: Bool = false
    ) throws(SystemCallError) -> DatagramSocket {
        let socket = try open(family: address.family, mark: mark)
        if !address.address.isIPv4 { try socket.set(CInt(IPPROTO_IPV6), IPV6_V6ONLY, 1, "IPV6_V6ONLY") }
        if reportsLocal, address.address.isIPv4 { try socket.set(CInt(IPPROTO_IP), IP_PKTINFO, 1, "IP_PKTINFO") }
        if reportsLocal, !address.address.isIPv4 {
            try socket.set(CInt(IPPROTO_IPV6), IPV6_RECVPKTINFO, 1, "IPV6_RECVPKTINFO")
        }
        if mayComeLater { try socket.set(CInt(IPPROTO_IP), IP_FREEBIND, 1, "IP_FREEBIND") }
        try socket.bind(to: address)
        return socket
    }

    /// Opens a socket that talks to one peer, from a port that the kernel draws at random.
    ///
    /// What the kernel knows at once (no route, no descriptor left) is thrown.
    public static func connect(
        to address: SocketAddress, mark: UInt32? = nil, from source: IPAddress? = nil
    ) throws(SystemCallError) -> DatagramSocket {
        let socket = try open(family: address.family, mark: mark)
        if let source { try socket.bind(to: SocketAddress(source, 0)) }
        let result = unsafe address.withSystemAddress { address, length in
            retrying { unsafe Int(Glibc.connect(socket.descriptor.number, address, length)) }
        }
        guard result >= 0 else { throw SystemCallError("connect", "\(address) udp", negative: CInt(result)) }
        return socket
    }

    private static func open(family: CInt, mark: UInt32?) throws(SystemCallError) -> DatagramSocket {
        let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(family, type, 0)
        guard number >= 0 else { throw .last("socket") }
        let socket = DatagramSocket(owning: OwnedDescriptor(owning: number))
        if let mark { try socket.set(SOL_SOCKET, SO_MARK, CInt(bitPattern: mark), "SO_MARK") }
        return socket
    }

    private func bind(to address: SocketAddress) throws(SystemCallError) {
        let result = unsafe address.withSystemAddress { unsafe Glibc.bind(descriptor.number, $0, $1) }
        guard result == 0 else { throw .last("bind", "\(address) udp") }
    }

    /// This end's address, or nil when the socket has none.
    public var localAddress: SocketAddress? {
        unsafe SocketAddress.filled { unsafe getsockname(descriptor.number, $0, $1) }.address
    }

    /// Asks for so much room for datagrams that wait to be read, and to be sent; the kernel's limits hold.
    public func setBuffers(receive: Int? = nil, send: Int? = nil) {
        if let receive { try? set(SOL_SOCKET, SO_RCVBUF, CInt(clamping: receive), "SO_RCVBUF") }
        if let send { try? set(SOL_SOCKET, SO_SNDBUF, CInt(clamping: send), "SO_SNDBUF") }
    }

    func set(_ level: CInt, _ option: CInt, _ value: CInt, _ name: String) throws(SystemCallError) {
        var value = value
        let size = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe setsockopt(descriptor.number, level, option, &value, size) == 0 else {
            throw .last("setsockopt", name)
        }
    }
}

extension DatagramSocket {
    /// Receives one datagram into the beginning of a span; what does not fit is cut off.
    public func receive(into bytes: inout MutableSpan<UInt8>) -> DatagramReceipt {
        var peer = sockaddr_storage()
        var local = clinux_local_address()
        let capacity = bytes.count
        let count = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            retrying {
                unsafe clinux_receive_datagram(descriptor.number, bytes.baseAddress, bytes.count, &peer, &local)
            }
        }
        guard count >= 0 else {
            return count == -Int(EAGAIN) ? .wouldBlock : .failed(ErrorNumber(rawValue: CInt(-count)))
        }
        // Safe: sockaddr_storage is made to hold every form.
        let from = unsafe withUnsafePointer(to: &peer) { peer in
            unsafe peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe SocketAddress(system: $0) }
        }
        // An IP socket has no other peers.
        guard let from else { return .failed(.invalidArgument) }
        return .datagram(
            ReceivedDatagram(
                count: min(count, capacity), isCut: count > capacity, peer: from, local: LocalAddress(system: local)))
    }

    /// Sends one datagram on a connected socket.
    public func send(_ bytes: Span<UInt8>) -> DatagramSending {
        let count = unsafe bytes.withUnsafeBufferPointer { bytes in
            retrying { unsafe Glibc.send(descriptor.number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }
        }
        return Self.sending(count)
    }

    /// Sends one datagram to a peer, from the given address of this machine if there is one.
    public func send(_ bytes: Span<UInt8>, to peer: SocketAddress, from local: LocalAddress? = nil) -> DatagramSending {
        let number = descriptor.number
        let count = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe peer.withSystemAddress { address, length in
                guard let local else {
                    return retrying {
                        unsafe clinux_send_datagram(number, bytes.baseAddress, bytes.count, address, length, nil)
                    }
                }
                var source = local.system
                return retrying {
                    unsafe clinux_send_datagram(number, bytes.baseAddress, bytes.count, address, length, &source)
                }
            }
        }
        return Self.sending(count)
    }

    private static func sending(_ count: Int) -> DatagramSending {
        if count >= 0 { return .sent }
        switch CInt(-count) {
        case EAGAIN, ENOBUFS, ENOMEM: return .wouldBlock
        case let reason: return .failed(ErrorNumber(rawValue: reason))
        }
    }
}

extension LocalAddress {
    /// Reads what came with a datagram; nil where the socket does not report it.
    fileprivate init?(system: clinux_local_address) {
        let (high, low) = unsafe withUnsafeBytes(of: system.octets) { octets in
            unsafe (
                UInt64(bigEndian: octets.load(as: UInt64.self)),
                UInt64(bigEndian: octets.load(fromByteOffset: 8, as: UInt64.self))
            )
        }
        switch system.family {
        case AF_INET: self.init(IPAddress(v4: UInt32(high >> 32)), interface: system.interface)
        case AF_INET6: self.init(IPAddress(high: high, low: low), interface: system.interface)
        default: return nil
        }
    }

    /// The kernel's form.
    ///
    /// The interface is named only where the address alone does not say it (link-local): otherwise the answer has to
    /// follow the routes.
    fileprivate var system: clinux_local_address {
        var form = clinux_local_address()
        form.family = address.isIPv4 ? AF_INET : AF_INET6
        form.interface = address.isLinkLocal ? interface : 0
        let high = address.isIPv4 ? UInt64(address.v4) << 32 : address.high
        unsafe withUnsafeMutableBytes(of: &form.octets) { octets in
            unsafe octets.storeBytes(of: high.bigEndian, as: UInt64.self)
            unsafe octets.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return form
    }
}
