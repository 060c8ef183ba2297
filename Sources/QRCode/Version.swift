/// The forty sizes of a symbol, and what they mean for its parts.

extension QRCode {
    /// The size of a symbol: version 1 has 21 modules a side, each further one 4 more.
    public struct Version: Comparable, Hashable, Sendable {
        /// 1 to 40.
        public let number: Int

        public static let smallest = Version(unchecked: 1)
        public static let largest = Version(unchecked: 40)
        /// All forty, smallest first.
        public static let all = (1...40).map(Version.init(unchecked:))

        /// Fails outside 1 to 40.
        public init?(_ number: Int) {
            guard (1...40).contains(number) else { return nil }
            self.number = number
        }

        private init(unchecked number: Int) { self.number = number }

        public static func < (left: Version, right: Version) -> Bool { left.number < right.number }

        /// The side in modules.
        public var size: Int { 17 + 4 * number }

        /// The most octets of any kind that one symbol holds: one byte segment that fills it (table 7).
        public func octets(at level: ErrorCorrection) -> Int {
            let bits = Blocks(version: self, level: level).dataCount * 8
            return (bits - 4 - Mode.byte.countBits(in: self)) / 8
        }

        /// The centres of the alignment patterns, by row and by column alike (annex E).
        var alignment: [Int] {
            guard number > 1 else { return [] }
            let count = number / 7 + 2
            // The distance is even, and the same but for the first one, which takes the rest.
            let step = (number * 8 + count * 3 + 5) / (count * 4 - 4) * 2
            return [6] + (0..<count - 1).reversed().map { size - 7 - $0 * step }
        }

        /// All modules that carry codewords, and up to 7 that are left over.
        var dataModules: Int {
            let count = alignment.count
            // Three finders with their separators and format information, and two timing patterns.
            var reserved = 3 * 64 + 31 + 2 * (size - 16)
            // Alignment patterns stand in all corners but the finders'; those on a timing pattern share 5 modules with
            // it.
            if count > 0 { reserved += 25 * (count * count - 3) - 5 * 2 * (count - 2) }
            if number >= 7 { reserved += 36 }
            return size * size - reserved
        }
    }
}
