/// What resolvers said, for as long as they said it holds.
///
/// An answer is kept as it came, with its true TTLs; what a client is told of them is computed for each. The cache
/// is bounded in names and in octets, and what was asked for least recently goes first.

public import Bytes
public import Wire

/// What makes two questions the same: the name without case, and all that changes the answer.
public struct AnswerKey: Hashable, Sendable {
    public var name: String
    public var type: DNSType
    public var `class`: UInt16
    /// RD, AD and CD as they stand in the header, and DO in the lowest bit.
    public var bits: UInt16

    static let flags =
        DNSHeader.Bits.recursionDesired | DNSHeader.Bits.authenticData | DNSHeader.Bits.checkingDisabled

    public init(_ query: DNSQuery) {
        name = query.name
        type = query.type
        self.class = query.class
        bits = query.header.bits & Self.flags | (query.wantsSignatures ? 1 : 0)
    }

    /// The question of an asker of our own: for addresses of a name.
    public init(name: String, type: DNSType) {
        self.name = name
        self.type = type
        self.class = 1
        bits = DNSHeader.Bits.recursionDesired
    }

    public var wantsSignatures: Bool { bits & 1 != 0 }
}

public struct AnswerCache: Sendable {
    private struct Entry: Sendable {
        var key: AnswerKey
        var answer: DNSAnswer
        var stored: Instant
        var until: Instant
        // Neighbours in the order of use.
        var newer = none
        var older = none
    }

    private static let none = -1
    /// What an entry takes beside its message, roughly.
    private static let overhead = 200

    private let capacity: Int
    private let byteLimit: Int
    private var entries: [Entry] = []
    private var places: [AnswerKey: Int] = [:]
    private var newest = none
    private var oldest = none

    /// The octets that the cache takes, roughly.
    public private(set) var byteCount = 0

    public init(capacity: Int, byteLimit: Int = 32 << 20) {
        self.capacity = capacity
        self.byteLimit = byteLimit
    }

    public var count: Int { entries.count }

    /// The answer to a question, and how many seconds old it is, or nil.
    public mutating func find(_ key: AnswerKey, now: Instant) -> (answer: DNSAnswer, age: UInt32)? {
        guard let place = places[key] else { return nil }
        guard now < entries[place].until else {
            remove(place)
            return nil
        }
        unlink(place)
        link(place)
        let age = max(.zero, now - entries[place].stored).nanoseconds / 1_000_000_000
        return (entries[place].answer, UInt32(clamping: age))
    }

    /// Keeps an answer for its lifetime, in the place of the one that was there.
    public mutating func insert(_ key: AnswerKey, _ answer: DNSAnswer, now: Instant) {
        if let place = places[key] { remove(place) }
        guard answer.lifetime > 0, capacity > 0 else { return }
        let size = answer.byteCount + Self.overhead
        while entries.count >= capacity || byteCount + size > byteLimit {
            guard oldest != Self.none else { return }
            remove(oldest)
        }
        let until = now + .seconds(Int64(answer.lifetime))
        entries.append(Entry(key: key, answer: answer, stored: now, until: until))
        places[key] = entries.count - 1
        byteCount += size
        link(entries.count - 1)
    }

    /// Forgets everything.
    public mutating func removeAll() { self = AnswerCache(capacity: capacity, byteLimit: byteLimit) }

    /// Takes an entry out; the last one moves into its place.
    private mutating func remove(_ place: Int) {
        unlink(place)
        places[entries[place].key] = nil
        byteCount -= entries[place].answer.byteCount + Self.overhead
        let last = entries.count - 1
        if place != last {
            let moved = entries[last]
            entries[place] = moved
            places[moved.key] = place
            if moved.newer == Self.none { newest = place } else { entries[moved.newer].older = place }
            if moved.older == Self.none { oldest = place } else { entries[moved.older].newer = place }
        }
        entries.removeLast()
    }

    private mutating func link(_ place: Int) {
        entries[place].newer = Self.none
        entries[place].older = newest
        if newest == Self.none { oldest = place } else { entries[newest].newer = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (entries[place].newer, entries[place].older)
        if newer == Self.none { newest = older } else { entries[newer].older = older }
        if older == Self.none { oldest = newer } else { entries[older].newer = newer }
    }
}
