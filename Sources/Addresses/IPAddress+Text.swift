/// Addresses as people write them: dotted quads, RFC 4291 section 2.2 in, RFC 5952 out.

extension IPAddress {
    /// Reads an address, strictly.
    ///
    /// IPv4 is four decimal numbers without leading zeros, which some programs would take for octal. IPv6 is any
    /// form of RFC 4291, section 2.2, without a zone. Nothing else, blanks included, is an address.
    public init?(parsing text: some StringProtocol) {
        let bytes = Array(text.utf8)
        if let bits = parseIPv4(bytes[...]) {
            self.init(v4: bits)
        } else if let words = parseIPv6(bytes[...]) {
            self.init(
                high: UInt64(words[0]) << 48 | UInt64(words[1]) << 32 | UInt64(words[2]) << 16 | UInt64(words[3]),
                low: UInt64(words[4]) << 48 | UInt64(words[5]) << 32 | UInt64(words[6]) << 16 | UInt64(words[7]))
        } else {
            return nil
        }
    }

    /// The 16-bit groups of an IPv6 address, the first one first.
    private func group(_ index: Int) -> UInt16 {
        let half = index < 4 ? high : low
        return UInt16(truncatingIfNeeded: half >> UInt64(48 - index % 4 * 16))
    }

    /// Where the longest run of two or more zero groups stands, the first one of equals (RFC 5952, section 4.2).
    private var longestZeroRun: Range<Int> {
        var longest = 0..<0
        var start = 0
        for index in 0...8 {
            if index < 8, group(index) == 0 { continue }
            if index - start > max(1, longest.count) { longest = start..<index }
            start = index + 1
        }
        return longest
    }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical text: a dotted quad, or RFC 5952.
    public var description: String {
        if isIPv4 { return "\(v4 >> 24).\(v4 >> 16 & 255).\(v4 >> 8 & 255).\(v4 & 255)" }
        let zeros = longestZeroRun
        var text = ""
        for index in 0..<8 {
            if zeros.contains(index) {
                if index == zeros.lowerBound { text += "::" }
                continue
            }
            if index > 0, index != zeros.upperBound || zeros.isEmpty { text += ":" }
            text += String(group(index), radix: 16)
        }
        return text
    }
}

extension SocketAddress: CustomStringConvertible {
    /// Reads `192.0.2.1:80` or `[2001:db8::1]:80`.
    public init?(parsing text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon]
        if host.first == "[", host.last == "]" {
            guard let address = IPAddress(parsing: host.dropFirst().dropLast()), !address.isIPv4 else { return nil }
            self.init(address, port)
        } else {
            guard let address = IPAddress(parsing: host), address.isIPv4 else { return nil }
            self.init(address, port)
        }
    }

    /// `192.0.2.1:80` or `[2001:db8::1]:80`.
    public var description: String {
        address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }

    /// A decimal port without leading zeros.
    private static func port(_ text: some StringProtocol) -> UInt16? {
        guard let first = text.utf8.first, first != UInt8(ascii: "0") || text.utf8.count == 1 else { return nil }
        guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return UInt16(text)
    }
}

/// Four decimal numbers, 0 to 255, without leading zeros.
private func parseIPv4(_ text: ArraySlice<UInt8>) -> UInt32? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bits: UInt32 = 0
    for part in parts {
        guard (1...3).contains(part.count), part.first != UInt8(ascii: "0") || part.count == 1 else { return nil }
        var value: UInt32 = 0
        for digit in part {
            guard digit >= 0x30, digit <= 0x39 else { return nil }
            value = value * 10 + UInt32(digit - 0x30)
        }
        guard value <= 255 else { return nil }
        bits = bits << 8 | value
    }
    return bits
}

/// Eight groups, of which "::" stands for one or more; the last two may be a dotted quad.
private func parseIPv6(_ text: ArraySlice<UInt8>) -> [UInt16]? {
    let colon = UInt8(ascii: ":")
    var elision: Int?
    var index = text.startIndex
    while index < text.endIndex - 1 {
        if text[index] == colon, text[index + 1] == colon {
            guard elision == nil else { return nil }
            elision = index
            // ":::" is caught below: the second half then starts with an empty group.
            index += 1
        }
        index += 1
    }
    guard let elision else {
        guard let groups = parseGroups(text, mayEndInQuad: true), groups.count == 8 else { return nil }
        return groups
    }
    guard let front = parseGroups(text[..<elision], mayEndInQuad: false),
        let back = parseGroups(text[(elision + 2)...], mayEndInQuad: true), front.count + back.count <= 7
    else { return nil }
    return front + [UInt16](repeating: 0, count: 8 - front.count - back.count) + back
}

/// Groups of one to four hexadecimal digits between single colons; none at all for an empty text.
private func parseGroups(_ text: ArraySlice<UInt8>, mayEndInQuad: Bool) -> [UInt16]? {
    guard !text.isEmpty else { return [] }
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count <= 8 else { return nil }
    var groups: [UInt16] = []
    for (index, part) in parts.enumerated() {
        if mayEndInQuad, index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
            guard let bits = parseIPv4(part) else { return nil }
            groups += [UInt16(bits >> 16), UInt16(bits & 0xffff)]
            continue
        }
        guard (1...4).contains(part.count) else { return nil }
        var value: UInt16 = 0
        for character in part {
            guard let digit = hexadecimal(character) else { return nil }
            value = value << 4 | digit
        }
        groups.append(value)
    }
    return groups
}

private func hexadecimal(_ character: UInt8) -> UInt16? {
    switch character {
    case 0x30...0x39: return UInt16(character - 0x30)
    case 0x41...0x46: return UInt16(character - 0x41 + 10)
    case 0x61...0x66: return UInt16(character - 0x61 + 10)
    default: return nil
    }
}
