/// What the gateway does to the machine's network, and on which interfaces.

/// Routes, rules and the mark.
public struct NetworkOptions: Equatable, Sendable {
    public var setup = Setup.none
    /// The interfaces that devices are on; at least one with `gateway`, none otherwise.
    public var lan: [LAN] = []
    /// The interface that direct traffic leaves by; nil: wherever the default route points.
    ///
    /// It may be a LAN interface too (one arm).
    public var uplink: String?
    /// The mark of every socket that the gateway opens.
    public var mark = Mark(value: 0x5300_0000, mask: 0xff00_0000)
    /// Whether what leaves by the uplink directly gets the gateway's address there.
    ///
    /// If not, the networks behind the uplink need a route to the devices. With one arm it always does: answers would
    /// go around the gateway.
    public var masquerades = true
    public var whenDown = WhenDown.block

    /// Who makes routes and rules.
    public enum Setup: String, CaseIterable, Sendable {
        /// Somebody else.
        case none
        /// The gateway, for the devices on its LAN interfaces.
        case gateway
        /// The gateway, for the machine's own traffic.
        case host
    }

    /// What becomes of traffic while the daemon is away without having stopped.
    public enum WhenDown: String, CaseIterable, Sendable {
        /// What would go into the TUN device is refused.
        case block
        /// It leaves by the uplink.
        case direct
    }

    /// An interface with devices on it.
    public struct LAN: Equatable, Sendable {
        public var interface: String
        /// The `id` of the profile of its devices; nil: the active one.
        public var profile: String?

        public init(interface: String, profile: String? = nil) {
            self.interface = interface
            self.profile = profile
        }
    }

    /// A firewall mark: bits of others stay as they are.
    public struct Mark: Equatable, Sendable {
        public var value: UInt32
        public var mask: UInt32

        public init(value: UInt32, mask: UInt32) {
            self.value = value
            self.mask = mask
        }
    }

    public init() {}
}
