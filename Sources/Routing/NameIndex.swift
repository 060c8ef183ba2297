/// # How a name finds its rule among a million
///
/// Every name of a rule is a key in one hash table, its text in one array of octets. A name that is looked up is
/// read backwards, once; at each dot the hash so far is that of a suffix, and the table is asked for it. So a
/// lookup takes as many probes as the name has labels, and a match can only begin behind a dot. Most of them find
/// nothing, and four bits for each slot say so before the table, which no processor's cache holds, is looked at. A
/// key holds the lowest rule that wants the name itself, the lowest that wants what is below it, and the lowest
/// that wants one label more: what is asked for is the first rule that matches, not the most specific one.
///
/// The hash is keyed for each process: lists come from others, and none of them may aim at one slot.

/// No rule: every rule's number is lower.
let noRule = UInt32.max

/// What part of the tree of names an entry stands for.
enum NameKind: UInt8, Sendable {
    /// The name alone.
    case exact
    /// The name and everything below it.
    case suffix
    /// Everything below the name, at any depth.
    case below
    /// What has exactly one label more than the name.
    case child
}

struct NameIndex: Sendable {
    private struct Key {
        var offset: UInt32
        var length: UInt8
        var hasPatterns = false
        var own = noRule
        var below = noRule
        var child = noRule
    }

    /// All keys, one behind the other.
    private var text: [UInt8] = []
    private var keys: [Key] = []
    /// For each key its hash in the upper half and its number plus one in the lower; 0 is free.
    private var slots: [UInt64] = []
    /// A bit for the first bits of each hash in use, two more than make its slot.
    private var filter: [UInt64] = []
    /// The slot of a hash is in its first bits.
    private var shift: UInt32 = 32
    /// Patterns that end in a key; those that end in a wildcard are under -1.
    private var patterns: [Int: [LabelPattern]] = [:]
    private(set) var patternCount = 0
    /// Those of one key are compared one by one, so there is a bound; it is far more than published lists have.
    static let maximumPatternCount = 4096
    /// The rules in use, to say what an entry was.
    private(set) var isEmpty = true

    /// Makes room for so many names of so many octets together.
    mutating func reserve(names: Int, octets: Int) {
        text.reserveCapacity(text.count + octets)
        keys.reserveCapacity(keys.count + names)
        resize(to: names)
    }

    /// Adds a name as it is written; rules come in the order of their numbers.
    mutating func add(_ name: ArraySlice<UInt8>, _ kind: NameKind, rule: UInt32) throws(DomainNameError) {
        let key = try key(of: name)
        isEmpty = false
        if kind == .exact || kind == .suffix { keys[key].own = min(keys[key].own, rule) }
        if kind == .below || kind == .suffix { keys[key].below = min(keys[key].below, rule) }
        if kind == .child { keys[key].child = min(keys[key].child, rule) }
    }

    /// Adds a name some labels of which are wildcards, as `sub.*.example.com`.
    mutating func add(pattern name: ArraySlice<UInt8>, rule: UInt32) throws(DomainNameError) {
        let pattern = try LabelPattern(name, rule: rule)
        isEmpty = false
        patternCount += 1
        guard let suffix = pattern.suffix else {
            patterns[-1, default: []].append(pattern)
            return
        }
        let key = try key(of: suffix[...])
        keys[key].hasPatterns = true
        patterns[key, default: []].append(pattern)
    }

    /// The lowest rule that matches a normalised name, or `noRule`.
    func first(_ name: Span<UInt8>) -> UInt32 {
        guard !isEmpty, name.count > 0 else { return noRule }
        var best = noRule
        var hash = Self.seed
        var pendingChild = noRule
        for position in stride(from: name.count - 1, through: -1, by: -1) {
            let octet = position < 0 ? DomainName.dot : name[position]
            if octet == DomainName.dot {
                if position < 0 { best = min(best, pendingChild) }
                pendingChild = noRule
                if let key = find(hash, name, from: position + 1) {
                    let found = keys[key]
                    best = min(best, position < 0 ? found.own : found.below)
                    pendingChild = found.child
                    if found.hasPatterns { best = min(best, match(key, name, end: position)) }
                }
            }
            hash = Self.step(hash, octet)
        }
        return patterns.isEmpty ? best : min(best, match(-1, name, end: name.count))
    }

    /// The spelling, in the domain list's way, of the entry with this number that matches the name.
    func spelling(of rule: UInt32, matching name: Span<UInt8>) -> String? {
        guard !isEmpty, name.count > 0 else { return nil }
        var hash = Self.seed
        for position in stride(from: name.count - 1, through: -1, by: -1) {
            let octet = position < 0 ? DomainName.dot : name[position]
            if octet == DomainName.dot, let key = find(hash, name, from: position + 1) {
                let found = keys[key]
                let text = spelling(of: key)
                if found.own == rule, found.below == rule { return text }
                if found.own == rule { return "full:" + text }
                if found.below == rule { return "*." + text }
                if found.child == rule { return "*." + text + " (one label)" }
            }
            hash = Self.step(hash, octet)
        }
        return patterns.values.joined().first { $0.rule == rule }?.description
    }

    private func spelling(of key: Int) -> String {
        let start = Int(keys[key].offset)
        return String(decoding: text[start..<(start + Int(keys[key].length))], as: UTF8.self)
    }

    private func match(_ key: Int, _ name: Span<UInt8>, end: Int) -> UInt32 {
        guard end > 0, let list = patterns[key] else { return noRule }
        var best = noRule
        for pattern in list where pattern.rule < best && pattern.matches(name.extracting(0..<end)) {
            best = pattern.rule
        }
        return best
    }
}

extension NameIndex {
    /// The key of a name, a new one if there is none yet.
    private mutating func key(of name: ArraySlice<UInt8>) throws(DomainNameError) -> Int {
        let start = text.count
        try DomainName.append(name, to: &text)
        let length = text.count - start
        var hash = Self.seed
        for position in stride(from: text.count - 1, through: start, by: -1) { hash = Self.step(hash, text[position]) }
        if let known = find(hash, text.span, from: start) {
            text.removeLast(length)
            return known
        }
        keys.append(Key(offset: UInt32(start), length: UInt8(length)))
        if keys.count * 2 > slots.count {
            resize(to: keys.count)
        }
        insert((Self.mark(hash) << 32) | UInt64(keys.count))
        return keys.count - 1
    }

    /// Whether the text from here to the end is a key.
    private func find(_ hash: UInt64, _ name: Span<UInt8>, from start: Int) -> Int? {
        guard !slots.isEmpty else { return nil }
        let mark = Self.mark(hash)
        let bit = Int(mark >> UInt64(shift - 2))
        guard filter[bit >> 6] >> UInt64(bit & 63) & 1 != 0 else { return nil }
        var slot = Int(mark >> UInt64(shift))
        while slots[slot] != 0 {
            if slots[slot] >> 32 == mark {
                let key = Int(slots[slot] & 0xffff_ffff) - 1
                if isKey(key, name, from: start) { return key }
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    private func isKey(_ key: Int, _ name: Span<UInt8>, from start: Int) -> Bool {
        let count = Int(keys[key].length)
        guard name.count - start == count else { return false }
        let offset = Int(keys[key].offset)
        for index in 0..<count where text[offset + index] != name[start + index] { return false }
        return true
    }

    private mutating func insert(_ entry: UInt64) {
        let bit = Int((entry >> 32) >> UInt64(shift - 2))
        filter[bit >> 6] |= 1 << UInt64(bit & 63)
        var slot = Int((entry >> 32) >> UInt64(shift))
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = entry
    }

    /// Makes the table large enough for so many keys, at most half full.
    private mutating func resize(to count: Int) {
        var bits: UInt32 = 4
        while 1 << bits < count * 2 { bits += 1 }
        guard 1 << bits > slots.count else { return }
        let entries = slots
        slots = [UInt64](repeating: 0, count: 1 << bits)
        filter = [UInt64](repeating: 0, count: slots.count / 16)
        shift = 32 - bits
        for entry in entries where entry != 0 { insert(entry) }
    }

    /// The half of a hash that is kept; never all zero bits together with a key's number.
    private static func mark(_ hash: UInt64) -> UInt64 { hash >> 32 }

    /// A folded multiplication: each octet reaches every bit, and without the seed nobody can say which.
    private static func step(_ hash: UInt64, _ octet: UInt8) -> UInt64 {
        let product = (hash ^ UInt64(octet)).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        return product.high ^ product.low
    }

    private static let seed = UInt64(bitPattern: Int64(Hasher().finalize())) | 1 << 63
}
