/// The eight patterns that keep a symbol from looking like a finder or a plain field (section 7.8.2, table 10).

extension QRCode {
    /// Which of the eight patterns a symbol was laid under.
    public enum Mask: Int, CaseIterable, Sendable {
        case checkerboard
        case rows
        case columns
        case diagonals
        case blocks
        case fields
        case diamonds
        case meadow

        /// Whether the pattern turns the module over.
        func inverts(_ row: Int, _ column: Int) -> Bool {
            switch self {
            case .checkerboard: (row + column) % 2 == 0
            case .rows: row % 2 == 0
            case .columns: column % 3 == 0
            case .diagonals: (row + column) % 3 == 0
            case .blocks: (row / 2 + column / 3) % 2 == 0
            case .fields: row * column % 2 + row * column % 3 == 0
            case .diamonds: (row * column % 2 + row * column % 3) % 2 == 0
            case .meadow: ((row + column) % 2 + row * column % 3) % 2 == 0
            }
        }
    }
}
