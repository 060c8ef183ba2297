/// Datagrams that came in pieces, put together again (RFC 791, section 3.2; RFC 8200, section 4.5).
///
/// Memory, number and time are bounded: 1 MiB, 128 datagrams and 30 s. Over the bound the sender's own oldest
/// datagram gives way, so a flood displaces itself. Pieces that overlap with other bytes spoil their datagram, whose
/// further pieces are dropped too (RFC 5722): no honest sender makes them. A piece that came twice does no harm.

import Addresses
public import Bytes
public import Wire

/// The datagrams of which pieces are missing.
public struct Fragments: ~Copyable {
    /// What became of a piece.
    public enum Outcome: Equatable, Sendable {
        /// More pieces are needed.
        case incomplete
        /// The whole datagram, as an IP packet without options that can be parsed like any other.
        case complete([UInt8])
        /// The piece was dropped, and its datagram with it.
        case refused(Refusal)
    }

    /// Why a piece was dropped.
    public enum Refusal: Hashable, Sendable {
        case overlap, tooLarge, tooManyPieces, contradictoryEnd
    }

    private struct Key: Equatable {
        var source: IPAddress
        var destination: IPAddress
        var transport: Transport
        var identification: UInt32
    }

    private static let maximumCount = 128
    /// More holes than this are no accident of the network.
    private static let maximumRanges = 64
    /// What a datagram costs beside its bytes.
    private static let overhead = 256

    private let budget: Int
    private let lifetime: Interval
    private var pending: [Pending] = []

    /// The octets that are held, overhead included.
    public private(set) var used = 0

    /// How many datagrams gave way to newer ones.
    public private(set) var displaced = 0

    /// How many datagrams were not completed in time.
    public private(set) var expired = 0

    public init(budget: Int = 1 << 20, lifetime: Interval = .seconds(30)) {
        self.budget = budget
        self.lifetime = lifetime
    }

    /// How many datagrams wait for pieces.
    public var count: Int { pending.count }

    /// When the oldest one is given up.
    public var nextDeadline: Instant? { pending.first?.deadline }

    /// Gives up what is overdue.
    public mutating func expire(_ now: Instant) {
        while let first = pending.first, first.deadline <= now {
            drop(0)
            expired += 1
        }
    }

    /// Takes one piece of a datagram; `ip` must be a fragment of `packet`.
    public mutating func add(_ packet: Span<UInt8>, _ ip: IPPacket, now: Instant) -> Outcome {
        guard let fragment = ip.fragment else { preconditionFailure("no fragment") }
        expire(now)
        let key = Key(
            source: ip.source, destination: ip.destination, transport: ip.transport,
            identification: fragment.identification)
        let index = pending.firstIndex { $0.key == key } ?? begin(key, ip, now: now)
        let before = pending[index].cost
        let refusal = pending[index].take(packet.extracting(ip.payload), fragment)
        used += pending[index].cost - before
        if let refusal { return .refused(refusal) }
        guard !pending[index].isComplete else {
            let whole = pending[index].packet()
            drop(index)
            return .complete(whole)
        }
        while used > budget || pending.count > Self.maximumCount, !pending.isEmpty {
            drop(pending.firstIndex { $0.key.source == ip.source } ?? 0)
            displaced += 1
        }
        return .incomplete
    }

    private mutating func begin(_ key: Key, _ ip: IPPacket, now: Instant) -> Int {
        pending.append(Pending(key: key, hopLimit: ip.hopLimit, deadline: now + lifetime))
        used += pending[pending.count - 1].cost
        return pending.count - 1
    }

    private mutating func drop(_ index: Int) {
        used -= pending[index].cost
        pending.remove(at: index)
    }

    /// One datagram of which pieces are missing.
    private struct Pending {
        let key: Key
        let hopLimit: UInt8
        let deadline: Instant
        /// The payload as far as it is known; what is not in `ranges` is zero.
        var bytes: [UInt8] = []
        /// What has arrived, in order, neighbours joined.
        var ranges: [Range<Int>] = []
        /// The payload's length, once the last piece is there.
        var end: Int?
        var spoilt: Refusal?

        var cost: Int { bytes.capacity + Fragments.overhead }

        var isComplete: Bool { end != nil && ranges.count == 1 && ranges[0] == 0..<bytes.count }

        mutating func take(_ piece: Span<UInt8>, _ fragment: IPFragment) -> Refusal? {
            if spoilt == nil { spoilt = put(piece, fragment) }
            if spoilt != nil {
                bytes = []
                ranges = []
            }
            return spoilt
        }

        private mutating func put(_ piece: Span<UInt8>, _ fragment: IPFragment) -> Refusal? {
            let place = fragment.offset..<fragment.offset + piece.count
            // The header that the datagram will get must fit too, or its length field cannot hold the sum.
            guard place.upperBound <= 65535 - (key.source.isIPv4 ? 20 : 0) else { return .tooLarge }
            if fragment.isLast {
                guard end ?? place.upperBound == place.upperBound, bytes.count <= place.upperBound else {
                    return .contradictoryEnd
                }
                end = place.upperBound
            } else if let end, place.upperBound > end {
                return .contradictoryEnd
            }
            if let same = ranges.first(where: { $0.overlaps(place) }) {
                return same.contains(place) && holds(piece, at: place.lowerBound) ? nil : .overlap
            }
            if bytes.count < place.upperBound {
                bytes.append(contentsOf: repeatElement(0, count: place.upperBound - bytes.count))
            }
            var output = bytes.mutableSpan
            output.copy(piece, at: place.lowerBound)
            return join(place)
        }

        private func holds(_ piece: Span<UInt8>, at offset: Int) -> Bool {
            for index in 0..<piece.count where bytes[offset + index] != piece[index] { return false }
            return true
        }

        /// Adds a range that overlaps none.
        private mutating func join(_ place: Range<Int>) -> Refusal? {
            let index = ranges.firstIndex { $0.lowerBound > place.lowerBound } ?? ranges.count
            ranges.insert(place, at: index)
            if index + 1 < ranges.count, ranges[index].upperBound == ranges[index + 1].lowerBound {
                ranges[index] = ranges[index].lowerBound..<ranges.remove(at: index + 1).upperBound
            }
            if index > 0, ranges[index - 1].upperBound == ranges[index].lowerBound {
                ranges[index - 1] = ranges[index - 1].lowerBound..<ranges.remove(at: index).upperBound
            }
            return ranges.count > Fragments.maximumRanges ? .tooManyPieces : nil
        }

        func packet() -> [UInt8] {
            WholeDatagram(
                source: key.source, destination: key.destination, transport: key.transport, hopLimit: hopLimit
            ).packet(bytes)
        }
    }
}
