/// IPv4 addresses inside IPv6 ones, as devices on an IPv6-only network write them (RFC 6052), and how the network's
/// own prefix is learned (RFC 7050).

/// A prefix under which a network translates to IPv4.
public struct NAT64Prefix: Hashable, Sendable {
    /// 64:ff9b::/96, which every network may use (RFC 6052, section 2.1).
    public static let wellKnown = NAT64Prefix(
        unchecked: IPAddress(high: 0x0064_ff9b_0000_0000, low: 0), length: 96)

    public let prefix: IPPrefix

    /// The prefixes' lengths (RFC 6052, section 2.2).
    private static let lengths = [32, 40, 48, 56, 64, 96]

    /// Takes a prefix that may hold IPv4 addresses; nil for another length, or where octet 8 is not zero.
    public init?(_ prefix: IPPrefix) {
        guard !prefix.base.isIPv4, Self.lengths.contains(prefix.length), prefix.base.octet(8) == 0 else { return nil }
        self.prefix = prefix
    }

    private init(unchecked base: IPAddress, length: Int) {
        guard let prefix = IPPrefix(base, length: length) else { preconditionFailure("no length of IPv6") }
        self.prefix = prefix
    }

    /// The IPv4 address inside an address of this prefix, or nil for any other.
    ///
    /// Octet 8 has to be zero; what stands behind the IPv4 address is passed over (RFC 6052, section 2.2).
    public func address(inside address: IPAddress) -> IPAddress? {
        guard prefix.contains(address), prefix.length == 96 || address.octet(8) == 0 else { return nil }
        return IPAddress(v4: Self.bits(in: address, behind: prefix.length))
    }

    /// The address of this prefix that stands for an IPv4 one.
    public func address(for inside: IPAddress) -> IPAddress {
        precondition(inside.isIPv4, "only IPv4 fits inside")
        var (high, low) = (prefix.base.high, prefix.base.low)
        for (index, place) in Self.places(behind: prefix.length).enumerated() {
            let octet = UInt64(inside.v4 >> UInt32(24 - 8 * index) & 0xff)
            let shift = UInt64(56 - place % 8 * 8)
            if place < 8 { high |= octet << shift } else { low |= octet << shift }
        }
        return IPAddress(high: high, low: low)
    }

    /// The prefix of this one's addresses that stand for those of an IPv4 prefix.
    public func prefix(for inside: IPPrefix) -> IPPrefix {
        guard inside.length > 0 else { return prefix }
        let (octet, bit) = (inside.length - 1).quotientAndRemainder(dividingBy: 8)
        let length = Self.places(behind: prefix.length)[octet] * 8 + bit + 1
        guard let network = IPPrefix(address(for: inside.base), length: length) else {
            preconditionFailure("no length of IPv6")
        }
        return network
    }

    /// The octets of an address that hold the IPv4 address: behind the prefix, without octet 8.
    private static func places(behind length: Int) -> [Int] {
        Array((length / 8..<16).filter { $0 != 8 }.prefix(4))
    }

    private static func bits(in address: IPAddress, behind length: Int) -> UInt32 {
        places(behind: length).reduce(0) { $0 << 8 | UInt32(address.octet($1)) }
    }
}

// MARK: Learning

extension NAT64Prefix {
    /// The name that has IPv4 addresses only: who gets an IPv6 one was told a translator's prefix.
    public static let discoveryName = "ipv4only.arpa"

    /// Its addresses, 192.0.0.170 and 192.0.0.171 (RFC 7050, section 2.2).
    private static let discoveryBits: [UInt32] = [0xc000_00aa, 0xc000_00ab]

    /// The prefixes that the AAAA records of `ipv4only.arpa` tell, in their order, each once (RFC 7050, section 3).
    ///
    /// An address must hold one of the well-known IPv4 addresses exactly once. Where one stands twice in any of
    /// them, a prefix has it too, and only the other one is searched for.
    public static func learned(from answers: [IPAddress]) -> [NAT64Prefix] {
        var prefixes: [NAT64Prefix] = []
        for bits in discoveryBits {
            let counts = answers.map { instances(of: bits, in: $0) }
            guard counts.allSatisfy({ $0 <= 1 }) else { continue }
            for (answer, count) in zip(answers, counts) where count == 1 {
                guard let found = prefix(before: bits, in: answer), !prefixes.contains(found) else { continue }
                prefixes.append(found)
            }
        }
        return prefixes
    }

    private static func prefix(before bits: UInt32, in address: IPAddress) -> NAT64Prefix? {
        guard let length = lengths.first(where: { holds(address, bits, behind: $0) }),
            let prefix = IPPrefix(address, length: length)
        else { return nil }
        return NAT64Prefix(prefix)
    }

    private static func holds(_ address: IPAddress, _ bits: UInt32, behind length: Int) -> Bool {
        self.bits(in: address, behind: length) == bits && (length == 96 || address.octet(8) == 0)
    }

    /// How often the four octets stand in an address: on any octet, or around octet 8 where a prefix puts them so.
    private static func instances(of bits: UInt32, in address: IPAddress) -> Int {
        guard !address.isIPv4 else { return 0 }
        let inOneRun = (0...12).count { start in
            (start..<start + 4).reduce(UInt32(0)) { $0 << 8 | UInt32(address.octet($1)) } == bits
        }
        return inOneRun + [40, 48, 56].count { holds(address, bits, behind: $0) }
    }
}

extension IPAddress {
    /// One of the sixteen octets of an IPv6 address.
    fileprivate func octet(_ index: Int) -> UInt8 {
        let half = index < 8 ? high : low
        return UInt8(truncatingIfNeeded: half >> UInt64(56 - index % 8 * 8))
    }
}
