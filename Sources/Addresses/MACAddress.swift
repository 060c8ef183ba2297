/// The 48 bits by which an Ethernet or Wi-Fi interface is known on its link (EUI-48).

/// A link-layer address of six octets.
public struct MACAddress: Hashable, Sendable, CustomStringConvertible {
    /// The six octets in the low 48 bits, the first one highest.
    public let bits: UInt64

    /// Takes the low 48 bits.
    public init(bits: UInt64) { self.bits = bits & 0xffff_ffff_ffff }

    /// Whether it names a group of stations, so no single device.
    public var isGroup: Bool { bits >> 40 & 1 == 1 }

    /// Whether the device has made it up (the "locally administered" bit), as phones do for each Wi-Fi network.
    public var isLocal: Bool { bits >> 41 & 1 == 1 }

    /// Six pairs of small hexadecimal digits with colons.
    public var description: String {
        stride(from: 40, through: 0, by: -8).map { shift in
            let octet = bits >> UInt64(shift) & 0xff
            return (octet < 16 ? "0" : "") + String(octet, radix: 16)
        }.joined(separator: ":")
    }
}

extension MACAddress {
    /// Reads six pairs of hexadecimal digits, capitals or not, with colons or hyphens between them.
    public init?(parsing text: some StringProtocol) {
        let octets = Array(text.utf8)
        guard octets.count == 17, octets[2] == 0x3a || octets[2] == 0x2d else { return nil }
        var bits: UInt64 = 0
        for (place, octet) in octets.enumerated() {
            if place % 3 == 2 {
                guard octet == octets[2] else { return nil }
                continue
            }
            guard let digit = Character(Unicode.Scalar(octet)).hexDigitValue, octet < 0x80 else { return nil }
            bits = bits << 4 | UInt64(digit)
        }
        self.init(bits: bits)
    }
}
