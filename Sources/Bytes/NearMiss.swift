/// What a mistyped word was most likely meant to be.

public enum NearMiss {
    /// The word of a list that is closest to `text`, if any is close: one slip in short words, three in long ones.
    public static func suggestion(for text: String, among words: some Sequence<String>) -> String? {
        guard text.unicodeScalars.count <= 64 else { return nil }
        var best: (word: String, distance: Int)?
        for word in words {
            let distance = distance(text.lowercased(), word.lowercased())
            guard distance <= min(3, max(1, word.count / 3)), distance < best?.distance ?? .max else { continue }
            best = (word, distance)
        }
        return best?.word
    }

    /// How many single-letter slips lie between two words: left out, put in, exchanged, or two in the wrong order.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.unicodeScalars)
        let right = Array(right.unicodeScalars)
        var rows = [Array(0...right.count)]
        for row in 1..<(left.count + 1) {
            var current = [row]
            for column in 1..<(right.count + 1) {
                let isSame = left[row - 1] == right[column - 1]
                var cost = min(current[column - 1], rows[row - 1][column]) + 1
                cost = min(cost, rows[row - 1][column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    cost = min(cost, rows[row - 2][column - 2] + 1)
                }
                current.append(cost)
            }
            rows.append(current)
        }
        return rows[left.count][right.count]
    }
}
