/// A curve in one line of text.

enum Sparkline {
    private static let levels: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// The last values, the newest at the right; the greatest of them is as high as the line, nil is a miss.
    static func text(_ values: [Int?], width: Int) -> String {
        let shown = values.suffix(max(0, width))
        let top = shown.compactMap(\.self).max() ?? 0
        var text = String(repeating: " ", count: max(0, width) - shown.count)
        for value in shown { text.append(value.map { level($0, of: top) } ?? "×") }
        return text
    }

    private static func level(_ value: Int, of top: Int) -> Character {
        guard value > 0, top > 0 else { return levels[0] }
        // Rounded up: the greatest value is the eighth level. What no link carries can't overflow either.
        let (value, top) = (min(value, 1 << 50), min(top, 1 << 50))
        return levels[min(7, (value * 8 - 1) / top)]
    }
}

/// The last values of something that is looked at again and again.
struct Samples: Sendable {
    static let limit = 240
    private(set) var values: [Int?] = []

    var last: Int?? { values.last }

    mutating func add(_ value: Int?) {
        if values.count == Self.limit { values.removeFirst() }
        values.append(value)
    }
}
