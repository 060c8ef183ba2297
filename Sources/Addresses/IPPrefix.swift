/// A network: the addresses that begin with the same bits (RFC 4632, section 3.1; RFC 4291, section 2.3).

/// An address and how many of its leading bits count.
public struct IPPrefix: Hashable, Sendable {
    /// The network's first address: the bits that do not count are zero.
    public let base: IPAddress
    /// 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let length: Int

    /// The network of this length that the address is in, or nil when the family has no such length.
    public init?(_ address: IPAddress, length: Int) {
        guard length >= 0, length <= (address.isIPv4 ? 32 : 128) else { return nil }
        self.length = length
        let mask = Self.mask(length: address.isIPv4 ? length + 96 : length)
        base = IPAddress(high: address.high & mask.high, low: address.low & mask.low)
    }

    /// Reads `192.0.2.0/24`, `2001:db8::/32` or an address alone.
    ///
    /// Bits beyond the length are an error: `10.0.0.1/8` is rather a slip than a network.
    public init?(parsing text: some StringProtocol) {
        guard let slash = text.firstIndex(of: "/") else {
            guard let address = IPAddress(parsing: text) else { return nil }
            self.init(address, length: address.isIPv4 ? 32 : 128)
            return
        }
        let digits = text[text.index(after: slash)...]
        guard let address = IPAddress(parsing: text[..<slash]), digits.utf8.count <= 3,
            digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), digits.first != "0" || digits.count == 1,
            let length = Int(digits)
        else { return nil }
        self.init(address, length: length)
        guard base == address else { return nil }
    }

    /// Whether the address is in the network; one of the other family never is.
    public func contains(_ address: IPAddress) -> Bool {
        guard address.isIPv4 == base.isIPv4 else { return false }
        let mask = Self.mask(length: base.isIPv4 ? length + 96 : length)
        return address.high & mask.high == base.high && address.low & mask.low == base.low
    }

    /// The network's directed broadcast address (RFC 919, section 7); nil where there is none (RFC 3021; RFC 4291).
    public var broadcast: IPAddress? {
        guard base.isIPv4, length <= 30 else { return nil }
        return IPAddress(v4: base.v4 | UInt32.max >> UInt32(length))
    }

    private static func mask(length: Int) -> (high: UInt64, low: UInt64) {
        (ones(min(length, 64)), ones(max(0, length - 64)))
    }

    /// A word whose first `count` bits are set.
    private static func ones(_ count: Int) -> UInt64 {
        count == 0 ? 0 : UInt64.max << UInt64(64 - count)
    }
}

extension IPPrefix: CustomStringConvertible {
    public var description: String { "\(base)/\(length)" }
}
