/// How a socket behaves. What cannot fail on a TCP socket, or may be missing without harm, does not throw.

public import Bytes
internal import Glibc

extension Socket {
    /// Marks what the socket sends for the routing rules (SO_MARK); needs CAP_NET_ADMIN.
    public func setMark(_ mark: UInt32) throws(SystemCallError) {
        try set(SOL_SOCKET, SO_MARK, CInt(bitPattern: mark), "SO_MARK")
    }

    /// Sends small pieces at once (TCP_NODELAY).
    public func setNoDelay() { attempt(CInt(IPPROTO_TCP), TCP_NODELAY, 1) }

    /// Before a connection: its handshake is acknowledged by the first octets, or after 200 ms without any
    /// (TCP_QUICKACK 0).
    func holdBackAcknowledgement() { attempt(CInt(IPPROTO_TCP), TCP_QUICKACK, 0) }

    /// Makes closing a reset: what was not sent is dropped, and the peer sees RST (SO_LINGER 0).
    public func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<Glibc.linger>.size)
        _ = unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_LINGER, &linger, size)
    }

    /// Probes the peer after `idle` without traffic, then each `interval`, and gives up after `count` (RFC
    /// 1122, section 4.2.3.6).
    public func setKeepAlive(idle: Interval, interval: Interval, count: Int) {
        let tcp = CInt(IPPROTO_TCP)
        attempt(tcp, TCP_KEEPIDLE, CInt(clamping: max(1, idle.milliseconds / 1000)))
        attempt(tcp, TCP_KEEPINTVL, CInt(clamping: max(1, interval.milliseconds / 1000)))
        attempt(tcp, TCP_KEEPCNT, CInt(clamping: count))
        attempt(SOL_SOCKET, SO_KEEPALIVE, 1)
    }

    /// Fixes the kernel's buffers (SO_RCVBUF, SO_SNDBUF) instead of letting them follow the connection.
    public func setBuffers(receive: Int? = nil, send: Int? = nil) {
        if let receive { attempt(SOL_SOCKET, SO_RCVBUF, CInt(clamping: receive)) }
        if let send { attempt(SOL_SOCKET, SO_SNDBUF, CInt(clamping: send)) }
    }

    func set(_ level: CInt, _ option: CInt, _ value: CInt, _ name: String) throws(SystemCallError) {
        var value = value
        let size = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe setsockopt(descriptor.number, level, option, &value, size) == 0 else {
            throw .last("setsockopt \(name)")
        }
    }

    /// Sets an option that a socket of another kind (a test's socket pair) does not have.
    private func attempt(_ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        _ = unsafe setsockopt(descriptor.number, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }
}
