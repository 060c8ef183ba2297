/// A set of names, each with everything below it, asked about every name that a device looks up.

/// Names by their ends; a question costs one walk over its octets and no memory.
public struct DNSSuffixes: Equatable, Sendable {
    private var names: [UInt64: [String]] = [:]

    /// Takes names in lower case without a dot at the end.
    public init(_ names: some Sequence<String>) {
        for name in names where !name.isEmpty { self.names[Self.hash(name.utf8), default: []].append(name) }
    }

    public var isEmpty: Bool { names.isEmpty }

    /// Whether the name is in the set or below a name that is.
    public func contains(_ name: String) -> Bool {
        let octets = name.utf8
        var hash = Self.seed
        var index = octets.endIndex
        while index > octets.startIndex {
            octets.formIndex(before: &index)
            hash = Self.mix(hash, octets[index])
            let isBorder = index == octets.startIndex || octets[octets.index(before: index)] == Self.dot
            guard isBorder, let candidates = names[hash] else { continue }
            if candidates.contains(where: { octets[index...].elementsEqual($0.utf8) }) { return true }
        }
        return false
    }

    private static let dot = UInt8(ascii: ".")

    // FNV-1a, from the end. These names are the operator's, so nobody can aim at it; equality decides anyway.
    private static let seed: UInt64 = 0xcbf2_9ce4_8422_2325

    private static func mix(_ hash: UInt64, _ octet: UInt8) -> UInt64 { (hash ^ UInt64(octet)) &* 0x100_0000_01b3 }

    private static func hash(_ octets: String.UTF8View) -> UInt64 {
        octets.reversed().reduce(seed) { mix($0, $1) }
    }
}
