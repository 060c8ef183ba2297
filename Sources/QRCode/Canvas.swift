/// Where everything in a symbol stands (sections 6.3 and 7.7 to 7.10).

/// A symbol in the making: the patterns that every symbol of its version has, and the codewords, unmasked.
struct Canvas {
    private let version: QRCode.Version
    private var modules: ModuleGrid
    /// Modules that are no part of the codewords, and that no mask touches.
    private var reserved: ModuleGrid

    init(version: QRCode.Version, codewords: [UInt8]) {
        self.version = version
        modules = ModuleGrid(size: version.size)
        reserved = ModuleGrid(size: version.size)
        drawTiming()
        drawFinder(row: 3, column: 3)
        drawFinder(row: 3, column: version.size - 4)
        drawFinder(row: version.size - 4, column: 3)
        drawAlignment()
        drawVersion()
        // The values come with the mask; here their places are taken.
        drawFormat(0)
        place(codewords)
    }

    /// The symbol under one mask, or under the one with the fewest penalty points.
    func finished(level: QRCode.ErrorCorrection, mask: QRCode.Mask?) -> (mask: QRCode.Mask, modules: ModuleGrid) {
        var best: (mask: QRCode.Mask, modules: ModuleGrid, points: Int)?
        for candidate in mask.map({ [$0] }) ?? QRCode.Mask.allCases {
            let masked = masked(candidate, level: level)
            let points = mask == nil ? Penalty.points(masked) : 0
            if points < best?.points ?? .max { best = (candidate, masked, points) }
        }
        guard let best else { preconditionFailure("no mask") }
        return (best.mask, best.modules)
    }

    private func masked(_ mask: QRCode.Mask, level: QRCode.ErrorCorrection) -> ModuleGrid {
        var copy = self
        for row in 0..<version.size {
            for column in 0..<version.size where !reserved[row, column] && mask.inverts(row, column) {
                copy.modules[row, column].toggle()
            }
        }
        copy.drawFormat(FormatBits.format(level: level, mask: mask))
        return copy.modules
    }

    // MARK: Patterns

    private mutating func reserve(_ row: Int, _ column: Int, dark: Bool) {
        modules[row, column] = dark
        reserved[row, column] = true
    }

    private mutating func drawTiming() {
        for index in 0..<version.size {
            reserve(6, index, dark: index % 2 == 0)
            reserve(index, 6, dark: index % 2 == 0)
        }
    }

    /// A finder pattern around its centre, and the light separator around that.
    private mutating func drawFinder(row: Int, column: Int) {
        for down in -4...4 {
            for right in -4...4 where modules.contains(row + down, column + right) {
                let distance = max(abs(down), abs(right))
                reserve(row + down, column + right, dark: distance != 2 && distance != 4)
            }
        }
    }

    private mutating func drawAlignment() {
        let centres = version.alignment
        for row in centres {
            for column in centres where !isFinder(row, column) {
                for down in -2...2 {
                    for right in -2...2 {
                        reserve(row + down, column + right, dark: max(abs(down), abs(right)) != 1)
                    }
                }
            }
        }
    }

    /// Whether a centre of an alignment pattern falls on one of the three finders.
    private func isFinder(_ row: Int, _ column: Int) -> Bool {
        let last = version.size - 7
        return row == 6 && (column == 6 || column == last) || row == last && column == 6
    }

    /// The version in two places, from version 7 on (section 7.10).
    private mutating func drawVersion() {
        guard version.number >= 7 else { return }
        let bits = FormatBits.version(version)
        for index in 0..<18 {
            let dark = bits >> UInt32(index) & 1 == 1
            let (long, short) = (index / 3, version.size - 11 + index % 3)
            reserve(long, short, dark: dark)
            reserve(short, long, dark: dark)
        }
    }

    /// Level and mask in two places, and the one module that is always dark (section 7.9.1).
    private mutating func drawFormat(_ bits: UInt32) {
        let size = version.size
        for index in 0..<15 {
            let dark = bits >> UInt32(index) & 1 == 1
            // Around the upper left finder: down its right side, then along its lower one; timing is stepped over.
            switch index {
            case 0...5: reserve(index, 8, dark: dark)
            case 6, 7: reserve(index + 1, 8, dark: dark)
            case 8: reserve(8, 7, dark: dark)
            default: reserve(8, 14 - index, dark: dark)
            }
            // Below the upper right finder, and to the right of the lower left one.
            if index < 8 {
                reserve(8, size - 1 - index, dark: dark)
            } else {
                reserve(size - 15 + index, 8, dark: dark)
            }
        }
        reserve(size - 8, 8, dark: true)
    }

    // MARK: Codewords

    /// Lays the bits in columns of two, up and down in turn, from the lower right (section 7.7.3).
    private mutating func place(_ codewords: [UInt8]) {
        let size = version.size
        var bit = 0
        var isUpward = true
        var right = size - 1
        while right > 0 {
            // The vertical timing pattern is no column.
            if right == 6 { right -= 1 }
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for side in 0...1 where !reserved[row, right - side] && bit < codewords.count * 8 {
                    modules[row, right - side] = codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
            isUpward.toggle()
            right -= 2
        }
        precondition(bit == codewords.count * 8, "codewords of another symbol")
    }
}
