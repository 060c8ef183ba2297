/// Colours, and how wide a text is on a terminal.

/// Paints texts, or leaves them as they are.
public struct Style: Equatable, Sendable {
    public var isColoured: Bool

    public init(isColoured: Bool) { self.isColoured = isColoured }

    enum Tint: Int, Sendable {
        case bold = 1
        case faint = 2
        case reversed = 7
        case bad = 31
        case good = 32
        case warning = 33
    }

    func paint(_ text: String, _ tint: Tint?) -> String {
        guard isColoured, let tint, !text.isEmpty else { return text }
        return "\u{1b}[\(tint.rawValue)m\(text)\u{1b}[0m"
    }
}

extension String {
    /// The columns that a terminal gives the text: two to East Asian wide characters, none to marks that combine.
    var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

    /// The text in at most so many columns, with an ellipsis where something was cut off.
    func cut(to width: Int) -> String {
        guard columns > width else { return self }
        var text = ""
        var used = 0
        for scalar in unicodeScalars {
            guard used + scalar.columns < width else { break }
            text.unicodeScalars.append(scalar)
            used += scalar.columns
        }
        return width > 0 ? text + "…" : ""
    }

    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }
}

extension Unicode.Scalar {
    fileprivate var columns: Int {
        switch value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
            0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff,
            0x20000...0x3fffd:
            return 2
        default:
            let isMark = properties.generalCategory == .nonspacingMark || properties.generalCategory == .enclosingMark
            return isMark ? 0 : 1
        }
    }
}
