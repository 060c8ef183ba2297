/// Settings of one interface, made through a netlink socket: that takes CAP_NET_ADMIN and no file, so it works where
/// /proc/sys is mounted for reading alone.
///
/// The kernel has this way for the IPv4 settings of an interface (IFLA_INET_CONF) and for a single one of IPv6
/// (IFLA_INET6_ADDR_GEN_MODE); "all", "default" and everything else has files alone.

internal import Glibc

extension Sysctl {
    /// What a setting of an interface is to the kernel (linux/ip.h, linux/if_link.h).
    struct InterfaceSetting: Equatable {
        var interface: String
        /// AF_INET or AF_INET6.
        var family: UInt16
        /// The attribute below that of the family, with its value.
        var attribute: [UInt8]

        /// Nil for a name or a value that this way does not have.
        init?(_ name: String, _ value: String) {
            let parts = name.split(separator: "/").map(String.init)
            guard parts.count == 5, parts[0] == "net", parts[2] == "conf", parts[3] != "all", parts[3] != "default",
                let number = UInt32(value)
            else { return nil }
            interface = parts[3]
            switch (parts[1], parts[4]) {
            case ("ipv4", let key):
                guard let place = Self.places[key] else { return nil }
                var setting: [UInt8] = []
                setting.appendNative(number)
                family = UInt16(AF_INET)
                attribute = Self.attribute(1, Self.attribute(place, setting))
            case ("ipv6", "addr_gen_mode"):
                guard number <= UInt32(UInt8.max) else { return nil }
                family = UInt16(AF_INET6)
                attribute = Self.attribute(8, [UInt8(number)])
            default: return nil
            }
        }

        /// The places of IPV4_DEVCONF_*.
        private static let places: [String: UInt16] = [
            "forwarding": 1, "accept_redirects": 4, "send_redirects": 6, "rp_filter": 8,
        ]

        /// One attribute with its padding.
        private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.appendNative(UInt16(4 + value.count))
            bytes.appendNative(type)
            return bytes + value + [UInt8](repeating: 0, count: -value.count & 3)
        }

        /// The body of RTM_SETLINK for the interface of this number.
        func body(index: UInt32) -> [UInt8] {
            var bytes: [UInt8] = [0, 0, 0, 0]
            bytes.appendNative(index)
            bytes += [UInt8](repeating: 0, count: 8)
            return bytes + Self.attribute(26, Self.attribute(family, attribute))
        }
    }

    /// Makes a setting without its file; false where there is no such way.
    static func setThroughNetlink(_ name: String, to value: String) throws(SystemCallError) -> Bool {
        guard let setting = InterfaceSetting(name, value) else { return false }
        // RTM_SETLINK of linux/rtnetlink.h, which Glibc does not bring along.
        let index = try NetworkInterface.index(of: setting.interface)
        try NetlinkSocket(.route).request(19, body: setting.body(index: index))
        return true
    }
}

extension SystemCallError {
    /// Whether a file may not be written by this process: it is mounted for reading alone, or belongs to somebody else.
    public var isWriteProtection: Bool { [.readOnlyFileSystem, .accessDenied, .notPermitted].contains(errno) }
}
