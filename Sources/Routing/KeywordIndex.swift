/// Texts that stand anywhere in a name.

/// Keywords by their first three octets, so that a name is read once whatever their number.
///
/// Where thousands begin alike each of them is compared, so there is a bound.
struct KeywordIndex: Sendable {
    private struct Keyword {
        var text: [UInt8]
        var rule: UInt32
    }

    /// Far more than published lists have.
    static let maximumCount = 4096

    private var keywords: [Keyword] = []
    /// The position of each text.
    private var known: [[UInt8]: Int32] = [:]
    /// Keywords by their first octets, up to three, in the order of their rules.
    private var byStart: [UInt32: [Int32]] = [:]
    /// Which starts there may be: most of them are turned away here.
    private var filter: [UInt64] = []
    /// The lengths of starts in use, 1 to 3.
    private var lengths: [Int] = []

    var isEmpty: Bool { keywords.isEmpty }

    func hasRoom(for text: [UInt8]) -> Bool { keywords.count < Self.maximumCount || known[text] != nil }

    /// Adds a keyword for which there is room.
    mutating func add(_ text: [UInt8], rule: UInt32) {
        precondition(!text.isEmpty, "an empty keyword")
        if let index = known[text] {
            keywords[Int(index)].rule = min(keywords[Int(index)].rule, rule)
            return
        }
        precondition(keywords.count < Self.maximumCount, "no room for a keyword")
        known[text] = Int32(keywords.count)
        if filter.isEmpty { filter = [UInt64](repeating: 0, count: 1024) }
        let length = min(3, text.count)
        let start = Self.start(text.span, at: 0, length: length)
        if !lengths.contains(length) { lengths.append(length) }
        let bit = Self.bit(start)
        filter[bit >> 6] |= 1 << UInt64(bit & 63)
        byStart[start, default: []].append(Int32(keywords.count))
        keywords.append(Keyword(text: text, rule: rule))
    }

    /// The lowest rule a keyword of which stands in the name, or `noRule`.
    func first(_ name: Span<UInt8>) -> UInt32 {
        guard !keywords.isEmpty else { return noRule }
        var best = noRule
        for length in lengths where length <= name.count {
            for position in 0...(name.count - length) {
                let start = Self.start(name, at: position, length: length)
                let bit = Self.bit(start)
                guard filter[bit >> 6] & 1 << UInt64(bit & 63) != 0, let list = byStart[start] else { continue }
                for index in list where keywords[Int(index)].rule < best && stands(Int(index), in: name, at: position) {
                    best = keywords[Int(index)].rule
                }
            }
        }
        return best
    }

    func spelling(of rule: UInt32) -> String? {
        keywords.first { $0.rule == rule }.map { "keyword:" + String(decoding: $0.text, as: UTF8.self) }
    }

    private func stands(_ index: Int, in name: Span<UInt8>, at position: Int) -> Bool {
        let count = keywords[index].text.count
        guard name.count - position >= count else { return false }
        for offset in 0..<count where keywords[index].text[offset] != name[position + offset] { return false }
        return true
    }

    /// Some octets as one number, their count included.
    private static func start(_ text: Span<UInt8>, at position: Int, length: Int) -> UInt32 {
        var value = UInt32(length)
        for offset in 0..<length { value = value << 8 | UInt32(text[position + offset]) }
        return value
    }

    private static func bit(_ start: UInt32) -> Int { Int((start &* 0x9e37_79b1) >> 16) }
}
