/// The cheapest way to write a text: which octets go as digits, as alphanumeric characters or as they are.

/// How the octets of a segment are written (section 7.3).
enum Mode: Int, CaseIterable {
    /// Digits: three in ten bits.
    case numeric
    /// Digits, capitals and nine signs: two in eleven bits.
    case alphanumeric
    /// Any octet.
    case byte

    /// The four bits that open a segment (table 2).
    var indicator: UInt32 { 1 << UInt32(rawValue) }

    /// The bits of the number of characters (table 3).
    func countBits(in version: QRCode.Version) -> Int {
        let group = version.number < 10 ? 0 : version.number < 27 ? 1 : 2
        return [[10, 12, 14], [9, 11, 13], [8, 16, 16]][rawValue][group]
    }

    /// The bits of so many characters (section 7.4).
    func dataBits(_ count: Int) -> Int { (count * cost + 5) / 6 }

    /// Sixths of a bit that one character takes; a segment's end is rounded up to a whole bit.
    var cost: Int { [20, 33, 48][rawValue] }

    func holds(_ octet: UInt8) -> Bool {
        switch self {
        case .numeric: 0x30...0x39 ~= octet
        case .alphanumeric: Self.alphanumericValue(octet) != nil
        case .byte: true
        }
    }

    /// The value of a character in alphanumeric mode (table 5).
    static func alphanumericValue(_ octet: UInt8) -> UInt32? {
        switch octet {
        case 0x30...0x39: UInt32(octet - 0x30)
        case 0x41...0x5a: UInt32(octet - 0x41) + 10
        default: signs.firstIndex(of: octet).map { UInt32($0) + 36 }
        }
    }

    private static let signs = Array(" $%*+-./:".utf8)
}

/// A stretch of the text, all in one mode.
struct Segment: Equatable {
    var mode: Mode
    var range: Range<Int>

    /// The bits of all segments in symbols of this version and its like.
    static func bits(_ segments: [Segment], in version: QRCode.Version) -> Int {
        segments.reduce(0) { $0 + 4 + $1.mode.countBits(in: version) + $1.mode.dataBits($1.range.count) }
    }
}

enum Segmentation {
    /// The smallest version that holds the octets, and how; nil when none does.
    static func fit(
        _ bytes: [UInt8], level: QRCode.ErrorCorrection, versions: ClosedRange<QRCode.Version>
    ) -> (version: QRCode.Version, segments: [Segment])? {
        // More digits than this fit no symbol, and a hostile text costs nothing.
        guard bytes.count <= 7089 else { return nil }
        var known: (group: Int, segments: [Segment])?
        for version in QRCode.Version.all where versions.contains(version) {
            // The best segmentation depends on the width of the counts alone.
            let group = Mode.numeric.countBits(in: version)
            let segments = known?.group == group ? known?.segments ?? [] : shortest(bytes, in: version)
            known = (group, segments)
            let capacity = Blocks(version: version, level: level).dataCount * 8
            if Segment.bits(segments, in: version) <= capacity { return (version, segments) }
        }
        return nil
    }

    /// The segments with the fewest bits.
    ///
    /// Octet by octet, the cheapest way to have written the text so far is kept for each mode that the last octet
    /// may be in. Costs are in sixths of a bit; leaving a mode rounds up, and since rounding keeps the order, the
    /// cheapest way so far stays the cheapest. No count can overflow: a segment that long fits no version of its group.
    static func shortest(_ bytes: [UInt8], in version: QRCode.Version) -> [Segment] {
        let heads = Mode.allCases.map { 6 * (4 + $0.countBits(in: version)) }
        let unreachable = Int.max / 2
        // What it costs to have each mode open, before any octet; and the mode before it, octet by octet.
        var costs = heads
        var before: [[Mode]] = []
        for octet in bytes {
            var next = [unreachable, unreachable, unreachable]
            var origins = Mode.allCases
            for mode in Mode.allCases where mode.holds(octet) {
                next[mode.rawValue] = costs[mode.rawValue] + mode.cost
            }
            // The octet is written in `mode`, and then another mode is opened for the one after it.
            let written = next
            for target in Mode.allCases {
                for mode in Mode.allCases where written[mode.rawValue] < unreachable && mode != target {
                    let cost = (written[mode.rawValue] + 5) / 6 * 6 + heads[target.rawValue]
                    guard cost < next[target.rawValue] else { continue }
                    next[target.rawValue] = cost
                    origins[target.rawValue] = mode
                }
            }
            costs = next
            before.append(origins)
        }
        return segments(before, costs)
    }

    /// Walks back from the cheapest end and joins octets of one mode.
    private static func segments(_ before: [[Mode]], _ costs: [Int]) -> [Segment] {
        guard var mode = Mode.allCases.min(by: { rounded(costs[$0.rawValue]) < rounded(costs[$1.rawValue]) }) else {
            return []
        }
        var reversed: [Segment] = []
        for index in before.indices.reversed() {
            mode = before[index][mode.rawValue]
            if let last = reversed.last, last.mode == mode {
                reversed[reversed.count - 1].range = index..<last.range.upperBound
            } else {
                reversed.append(Segment(mode: mode, range: index..<index + 1))
            }
        }
        return reversed.reversed()
    }

    private static func rounded(_ cost: Int) -> Int { (cost + 5) / 6 }
}
