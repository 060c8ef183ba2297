/// The four levels of error correction.

extension QRCode {
    /// How much of a symbol may be unreadable (section 6.5.1).
    public enum ErrorCorrection: Int, CaseIterable, Sendable {
        /// About 7 % of the codewords.
        case low
        /// About 15 %.
        case medium
        /// About 25 %.
        case quartile
        /// About 30 %.
        case high

        /// The letter that the standard gives the level.
        public var letter: String { ["L", "M", "Q", "H"][rawValue] }

        /// Finds a level by its letter, capital or small.
        public init?(letter: String) {
            guard let level = Self.allCases.first(where: { $0.letter == letter.uppercased() }) else { return nil }
            self = level
        }

        /// Its two bits in the format information (table 12).
        var formatBits: UInt32 { [0b01, 0b00, 0b11, 0b10][rawValue] }
    }
}
