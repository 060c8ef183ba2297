/// What a connected UDP socket knows of the path to its peer.

internal import Glibc

extension DatagramSocket {
    /// Says whether a datagram may be cut on its way (IP_MTU_DISCOVER): if it may not, one that is larger than the path
    /// is refused with EMSGSIZE instead.
    public func setMayFragment(_ mayFragment: Bool, isIPv4: Bool) {
        let mode = mayFragment ? IP_PMTUDISC_WANT : IP_PMTUDISC_DO
        let (level, option) = isIPv4 ? (IPPROTO_IP, IP_MTU_DISCOVER) : (IPPROTO_IPV6, IPV6_MTU_DISCOVER)
        // It cannot fail on a socket of this family.
        try? set(CInt(level), option, CInt(mode), "MTU_DISCOVER")
    }

    /// The path's MTU as far as the kernel knows it (IP_MTU), or nil when the socket is not connected.
    public func pathMTU(isIPv4: Bool) -> Int? {
        let (level, option) = isIPv4 ? (IPPROTO_IP, IP_MTU) : (IPPROTO_IPV6, IPV6_MTU)
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        let result = unsafe getsockopt(descriptor.number, CInt(level), option, &value, &length)
        return result == 0 ? Int(value) : nil
    }
}
