/// The names by which everything of ours is known, to us after a crash and to the administrator.

import Addresses

public enum NetworkNames {
    /// The nftables table, of family `inet`.
    public static let firewallTable = "starship"
    /// All rules of the routing policy are in here.
    public static let priorities: ClosedRange<UInt32> = 10800...10819
    /// Routes of what is always captured: the fake addresses and the prefixes of rules.
    public static let namesTable: UInt32 = 10800
    /// Routes of everything.
    public static let allTable: UInt32 = 10801
    public static let tables = [namesTable, allTable]
    /// Who made our routes of the main table, as `ip route` shows them: `proto 198`.
    public static let maker: UInt8 = 198
    /// Where the kernel's settings are kept as they were; on a file system that a reboot empties.
    public static let statePath = "/run/starship/network.state"
    /// Where the privileged step keeps them, when the daemon itself may not write settings: beside whatever the daemon
    /// may write, because what stands there is written back with the rights of root.
    public static let settingsPath = "/run/starship-settings.state"
    /// The daemon names here, beside its own state, the settings that it needs and may not make.
    public static let wishPath = "/run/starship/settings.wanted"

    /// The metric of routes that lead somewhere, or out of the table.
    static let metric: UInt32 = 100
    /// The metric of routes that refuse: they count when the TUN device is gone and its routes with it.
    static let lastMetric: UInt32 = 9999

    /// In which order the rules are asked.
    enum Priority {
        /// This machine's own sockets that stay outside; sources that are always direct.
        static let exempt: UInt32 = 10800
        /// Devices that hold a real address of a name that is proxied now.
        static let lent: UInt32 = 10802
        /// Fake addresses alone, where no rule leads into a whole table.
        ///
        /// The kernel takes a rule without a prefix for the same as one with it, so those have priorities of their own.
        static let deviceFakes: UInt32 = 10803
        static let device: UInt32 = 10804
        /// Devices with a rule of their own are not asked again.
        static let deviceEnd: UInt32 = 10805
        static let interface: UInt32 = 10806
        static let interfaceFakes: UInt32 = 10807
        /// The same for the networks on an interface that is the uplink's, too.
        static let network: UInt32 = 10808
        static let networkFakes: UInt32 = 10813
        static let ownFakes: UInt32 = 10809
        static let own: UInt32 = 10810
        static let connected: UInt32 = 10811
        static let everything: UInt32 = 10812
        /// Where "goto" leads: out of ours.
        static let end: UInt32 = 10819
    }
}

/// What is beyond any captured network.
enum WellKnown {
    static let anyIPv4 = IPPrefix(IPAddress(v4: 0), length: 0)
    static let anyIPv6 = IPPrefix(IPAddress(high: 0, low: 0), length: 0)

    /// Multicast, limited broadcast and link-local: never to be forwarded, so never captured.
    static let neverCaptured = [
        IPPrefix(IPAddress(v4: 0xe000_0000), length: 4), IPPrefix(IPAddress(v4: .max), length: 32),
        IPPrefix(IPAddress(v4: 0xa9fe_0000), length: 16), IPPrefix(IPAddress(high: 0xff00 << 48, low: 0), length: 8),
        IPPrefix(IPAddress(high: 0xfe80 << 48, low: 0), length: 10),
    ].compactMap { $0 }
}
