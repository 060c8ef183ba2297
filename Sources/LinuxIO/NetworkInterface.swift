/// What the kernel says about the interfaces of this network namespace.

public import Addresses
internal import CLinux
internal import Glibc

/// Questions about network interfaces; changes are made by ip(8).
public enum NetworkInterface {
    /// An address of an interface of this machine.
    public struct Address: Hashable, Sendable {
        public let interface: String
        public let address: IPAddress
        /// Of IPv4 0...32, of IPv6 0...128.
        public let prefixLength: Int

        public init(interface: String, address: IPAddress, prefixLength: Int) {
            self.interface = interface
            self.address = address
            self.prefixLength = prefixLength
        }
    }

    /// The number of an interface.
    public static func index(of name: String) throws(SystemCallError) -> UInt32 {
        let index = unsafe if_nametoindex(name)
        guard index > 0 else { throw .last("if_nametoindex", name) }
        return index
    }

    /// The longest IP packet of an interface, in octets.
    public static func mtu(of name: String) throws(SystemCallError) -> Int {
        let result = unsafe clinux_interface_mtu(name)
        guard result >= 0 else { throw SystemCallError("ioctl SIOCGIFMTU", name, negative: result) }
        return Int(result)
    }

    /// How many packets wait in an interface before it drops (txqueuelen); for a TUN device those that we read.
    public static func queueLength(of name: String) throws(SystemCallError) -> Int {
        let result = unsafe clinux_interface_queue_length(name)
        guard result >= 0 else { throw SystemCallError("ioctl SIOCGIFTXQLEN", name, negative: result) }
        return Int(result)
    }

    /// How many packets an interface has dropped instead of sending them (IFLA_STATS64).
    ///
    /// Of a TUN device those that its queue had no room for, because they were read too late. Nil: there is no such
    /// interface.
    public static func dropped(of name: String) -> Int? {
        guard let index = try? index(of: name), let socket = try? NetlinkSocket(.route) else { return nil }
        // struct ifinfomsg: family, padding, type, index, flags, change.
        var body: [UInt8] = [0, 0, 0, 0]
        body.appendNative(index)
        body += [UInt8](repeating: 0, count: 8)
        guard let answer = socket.question(UInt16(RTM_GETLINK), body: body), answer.payload.count >= 16,
            let figures = answer.attributes(after: 16)[UInt16(IFLA_STATS64)], figures.count >= 64
        else { return nil }
        // struct rtnl_link_stats64: received and sent in turn of packets, octets, errors and drops.
        let place = figures.lowerBound + 7 * 8
        let (low, high) = (answer.payload.native32(at: place), answer.payload.native32(at: place + 4))
        return Int(clamping: UInt64(high) << 32 | UInt64(low))
    }

    /// All IPv4 and IPv6 addresses of this machine.
    public static func addresses() throws(SystemCallError) -> [Address] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { throw .last("getifaddrs") }
        defer { unsafe freeifaddrs(first) }
        var found: [Address] = []
        var next = unsafe first
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            guard let system = unsafe entry.pointee.ifa_addr, let address = unsafe SocketAddress(system: system)
            else { continue }
            var length = address.address.isIPv4 ? 32 : 128
            if let mask = unsafe entry.pointee.ifa_netmask, let mask = unsafe SocketAddress(system: mask)?.address {
                length = mask.isIPv4 ? mask.v4.nonzeroBitCount : mask.high.nonzeroBitCount + mask.low.nonzeroBitCount
            }
            let name = unsafe String(cString: entry.pointee.ifa_name)
            found.append(Address(interface: name, address: address.address, prefixLength: length))
        }
        return found
    }
}
