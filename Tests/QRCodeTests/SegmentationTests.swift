/// Texts take as few bits as they can.

import TestSupport
import Testing

@testable import QRCode

struct QRCodeSegmentationTests {
    /// The fewest bits of any segmentation, by trying all of them: every octet in every mode that holds it.
    private func fewest(_ bytes: [UInt8], in version: QRCode.Version) -> Int {
        var best = Int.max
        func extend(_ segments: [Segment], _ index: Int) {
            guard index < bytes.count else {
                best = min(best, Segment.bits(segments, in: version))
                return
            }
            for mode in Mode.allCases where mode.holds(bytes[index]) {
                var longer = segments
                if let last = segments.last, last.mode == mode {
                    longer[longer.count - 1].range = last.range.lowerBound..<index + 1
                } else {
                    longer.append(Segment(mode: mode, range: index..<index + 1))
                }
                extend(longer, index + 1)
            }
        }
        extend([], 0)
        return best
    }

    @Test("no segmentation of a short text is shorter than the one found", arguments: UInt64(1)...4)
    func optimal(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            // Stretches of one kind, so that changing the mode is worth considering.
            var bytes: [UInt8] = []
            while bytes.count < 7 {
                let kind = ["0123456789", "ABCXYZ $%*+-./:", "abcäß~"][generator.number(0..<3)]
                let letters = Array(kind.utf8)
                for _ in 0..<generator.number(1..<5) { bytes.append(letters[generator.number(0..<letters.count)]) }
            }
            let version = try #require(QRCode.Version([9, 26, 40][generator.number(0..<3)]))
            let segments = Segmentation.shortest(bytes, in: version)
            #expect(segments.map(\.range).flatMap(Array.init) == Array(bytes.indices), "seed \(seed)")
            #expect(segments.allSatisfy { segment in bytes[segment.range].allSatisfy(segment.mode.holds) })
            #expect(Segment.bits(segments, in: version) == fewest(bytes, in: version), "seed \(seed): \(bytes)")
        }
    }

    @Test(
        "the mode changes where it pays",
        arguments: [
            ("", []), ("7", [Mode.numeric]), ("ABC 12", [.alphanumeric]), ("abc", [.byte]),
            ("ABC123456789", [.alphanumeric, .numeric]),
            ("ab12", [.byte]), ("ab123456789012", [.byte, .numeric]), ("STARSHIP://a", [.alphanumeric, .byte]),
            ("grün 0123456789", [.byte, .numeric]),
        ])
    func modes(text: String, modes: [Mode]) {
        #expect(Segmentation.shortest(Array(text.utf8), in: .smallest).map(\.mode) == modes)
    }

    @Test("a link takes the smallest version that holds it, and no larger one")
    func smallest() throws {
        let code = try QRCode("http://10.9.0.1/a?v=1&profile=whistle-qa", level: .medium)
        #expect(code.version.number == 3 && code.size == 29)
        #expect(try QRCode("").version == .smallest)
        let five = try #require(QRCode.Version(5))
        #expect(try QRCode("A", versions: five...QRCode.Version.largest).version == five)
    }
}
