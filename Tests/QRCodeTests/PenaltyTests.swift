/// The chosen mask is the best one, by the rules written down a second time.

import TestSupport
import Testing

@testable import QRCode

/// The four rules of table 11, word by word and slowly.
private enum SlowPenalty {
    static func points(_ rows: [[Bool]]) -> Int {
        let columns = rows.indices.map { column in rows.map { $0[column] } }
        let lines = rows + columns
        let dark = rows.joined().count { $0 }
        let percent = Double(dark) * 100 / Double(rows.count * rows.count)
        let blocks = (1..<rows.count).reduce(0) { sum, row in
            sum
                + (1..<rows.count).count { column in
                    let four = [
                        rows[row][column], rows[row - 1][column], rows[row][column - 1], rows[row - 1][column - 1],
                    ]
                    return !four.contains(true) || !four.contains(false)
                }
        }
        return lines.reduce(0) { $0 + adjacent($1) + finders($1) } + 3 * blocks
            + 10 * Int((percent - 50).magnitude / 5)
    }

    private static func adjacent(_ line: [Bool]) -> Int {
        line.split { !$0 }.map(\.count).filter { $0 >= 5 }.reduce(0) { $0 + $1 - 2 }
            + line.split { $0 }.map(\.count).filter { $0 >= 5 }.reduce(0) { $0 + $1 - 2 }
    }

    private static func finders(_ line: [Bool]) -> Int {
        let text = "0000" + line.map { $0 ? "1" : "0" }.joined() + "0000"
        let octets = Array(text.utf8)
        var points = 0
        for unit in 1...line.count / 7 {
            let finder = [1, 0, 1, 1, 1, 0, 1].flatMap { [UInt8](repeating: $0 + 0x30, count: unit) }
            guard octets.count >= finder.count + 2 else { break }
            for start in 1..<octets.count - finder.count where Array(octets[start..<start + finder.count]) == finder {
                // Its ends are ends of runs.
                let (before, after) = (octets[..<start], octets[(start + finder.count)...])
                guard before.last == 0x30, after.first == 0x30 else { continue }
                let light = max(before.reversed().prefix { $0 == 0x30 }.count, after.prefix { $0 == 0x30 }.count)
                if light >= 4 * unit { points += 40 }
            }
        }
        return points
    }
}

struct QRCodePenaltyTests {
    private func rows(_ code: QRCode) -> [[Bool]] {
        (0..<code.size).map { row in (0..<code.size).map { code[row, $0] } }
    }

    @Test("the chosen mask has the fewest points of all eight", arguments: UInt64(1)...6)
    func best(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let bytes = generator.bytes(generator.number(1..<90))
        let points = try QRCode.Mask.allCases.map { mask in
            let code = try QRCode(bytes: bytes, mask: mask)
            #expect(Penalty.points(code.modules) == SlowPenalty.points(rows(code)), "seed \(seed), \(mask)")
            return SlowPenalty.points(rows(code))
        }
        let chosen = try QRCode(bytes: bytes)
        #expect(points[chosen.mask.rawValue] == points.min(), "seed \(seed)")
        #expect(try QRCode(bytes: bytes, mask: chosen.mask) == chosen)
    }

    @Test(
        "lines are counted as the standard's examples say",
        arguments: [
            ("1010101", 0), ("11111010", 3), ("1111111010", 5), ("0000010000010", 6),
            // A finder at the edge has the quiet zone beside it; a dark neighbour on both sides makes it none.
            ("1011101", 40), ("11011101011", 0), ("101011101000011", 40),
        ])
    func lines(text: String, points: Int) {
        #expect(Penalty.line(text.map { $0 == "1" }) == points)
    }
}
