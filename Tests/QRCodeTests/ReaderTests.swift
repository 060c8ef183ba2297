/// An independent reader, zbarimg, reads every symbol; an independent writer, qrencode, draws the same ones.

import TestSupport
import Testing

@testable import QRCode

/// A symbol and what it says.
private struct Sample {
    var name: String
    var code: QRCode
    var bytes: [UInt8]
}

/// Has zbarimg read all images in one run; returns the names of those of which it read anything else.
private func misread(_ samples: [Sample], module: Int = 3) throws -> [String] {
    let scratch = try Scratch()
    for (index, sample) in samples.enumerated() {
        try Scratch.put(sample.code.png(module: module), scratch.path("\(index).png"))
    }
    return try misread(samples, files: samples.indices.map { "\($0).png" }, in: scratch.directory)
}

private func misread(_ samples: [Sample], files: [String], in directory: String) throws -> [String] {
    let options = ["zbarimg", "-q", "--nodbus", "--raw", "-Sbinary", "-Sdisable", "-Sqrcode.enable"]
    let result = try Command.run(options + files, in: directory)
    // The texts stand one after another, without anything between them.
    var rest = result.output[...]
    return samples.compactMap { sample in
        guard rest.starts(with: sample.bytes) else { return sample.name }
        rest = rest.dropFirst(sample.bytes.count)
        return nil
    } + (rest.isEmpty ? [] : ["\(rest.count) octets more than expected"])
}

/// Random octets of the kind that each mode holds best.
private func text(_ kind: String, count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    let letters: [UInt8] =
        switch kind {
        case "digits": Array("0123456789".utf8)
        case "alphanumeric": Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:0123456789".utf8)
        default: Array(UInt8.min...UInt8.max)
        }
    return (0..<count).map { _ in letters[generator.number(0..<letters.count)] }
}

struct QRCodeReaderTests {
    @Test("zbarimg reads every version and level, filled with octets", arguments: QRCode.ErrorCorrection.allCases)
    func versions(level: QRCode.ErrorCorrection) throws {
        var generator = SeededGenerator(seed: UInt64(level.rawValue + 1))
        let samples = try QRCode.Version.all.map { version in
            let bytes = generator.bytes(version.octets(at: level))
            // Looking for the best mask takes eight times as long, and every mask has to be read anyway.
            let mask = QRCode.Mask.allCases[(version.number + level.rawValue) % 8]
            let code = try QRCode(bytes: bytes, level: level, versions: version...version, mask: mask)
            return Sample(name: "\(version.number)-\(level.letter)", code: code, bytes: bytes)
        }
        #expect(try misread(samples) == [])
    }

    @Test("zbarimg reads digits and capitals in every version", arguments: ["digits", "alphanumeric"])
    func modes(kind: String) throws {
        var generator = SeededGenerator(seed: 7)
        let samples = try QRCode.Version.all.map { version in
            let level = QRCode.ErrorCorrection.allCases[version.number % 4]
            let count = version.octets(at: level) * (kind == "digits" ? 2 : 1)
            let bytes = text(kind, count: count, &generator)
            let mask = QRCode.Mask.allCases[version.number % 8]
            let code = try QRCode(bytes: bytes, level: level, versions: version...version, mask: mask)
            return Sample(name: "\(version.number)-\(level.letter)", code: code, bytes: bytes)
        }
        #expect(try misread(samples) == [])
    }

    @Test("zbarimg reads texts of several segments under every mask")
    func masks() throws {
        let texts = [
            "starship://activate?v=1&host=WHISTLE.QA.EXAMPLE&port=8899&exp=4102444800&sig=aB3_-",
            "HELLO WORLD 0123456789012345678901234567890123456789 and small letters", "Grüße aus Köln, 日本語, 😀\n",
        ]
        let samples = try texts.flatMap { text in
            try QRCode.Mask.allCases.map { mask in
                Sample(name: "\(mask): \(text)", code: try QRCode(text, mask: mask), bytes: Array(text.utf8))
            }
        }
        #expect(samples.allSatisfy { Segmentation.shortest($0.bytes, in: $0.code.version).count > 0 })
        #expect(try misread(samples) == [])
    }

    @Test("zbarimg takes octets beyond ASCII for UTF-8 by itself")
    func unicode() throws {
        let scratch = try Scratch()
        let text = "Grüße aus Köln: 日本語 😀"
        try Scratch.put(try QRCode(text).png(), scratch.path("code.png"))
        let result = try Command.run(["zbarimg", "-q", "--nodbus", "--raw", "code.png"], in: scratch.directory)
        #expect(String(decoding: result.output, as: UTF8.self) == text + "\n")
    }

    @Test("zbarimg reads the drawing, painted by rsvg-convert")
    func drawings() throws {
        let scratch = try Scratch()
        var samples: [Sample] = []
        for number in [1, 7, 25] {
            let version = try #require(QRCode.Version(number))
            let text = "drawing \(number)"
            let code = try QRCode(text, versions: version...version)
            samples.append(Sample(name: text, code: code, bytes: Array(text.utf8)))
            try Scratch.put(Array(code.svg(module: 4).utf8), scratch.path("\(number).svg"))
            let painted = try Command.run(
                ["rsvg-convert", "-o", "\(number).png", "\(number).svg"], in: scratch.directory)
            #expect(painted.status == 0, "\(painted.errors)")
        }
        #expect(try misread(samples, files: ["1.png", "7.png", "25.png"], in: scratch.directory) == [])
    }

    @Test("qrencode draws the same modules for every version and level")
    func secondWriter() throws {
        let scratch = try Scratch()
        var script = ""
        var generator = SeededGenerator(seed: 11)
        var texts: [(version: QRCode.Version, level: QRCode.ErrorCorrection, bytes: [UInt8])] = []
        for version in QRCode.Version.all {
            for level in QRCode.ErrorCorrection.allCases {
                // Not always full, so that terminator and padding are compared too.
                let most = version.octets(at: level)
                let bytes = text("octets", count: most - generator.number(0..<min(most, 6)), &generator)
                try Scratch.put(bytes, scratch.path("\(texts.count).txt"))
                script +=
                    "qrencode -8 -v \(version.number) -l \(level.letter) -m 0 -t ASCII -o - <\(texts.count).txt;echo =;"
                texts.append((version, level, bytes))
            }
        }
        let result = try Command.run(["sh", "-c", script], in: scratch.directory)
        let drawn = String(decoding: result.output, as: UTF8.self).split(separator: "=\n")
        try #require(drawn.count == texts.count, "\(result.errors)")
        for (index, sample) in texts.enumerated() {
            // qrencode picks a mask by rules of its own, and says which in the format information (bits 12 to 10).
            let cells = drawn[index].split(separator: "\n").map { line in Array(line).map { $0 == "#" } }
            let bits = [2, 3, 4].reduce(0) { $0 << 1 | (cells[8][$1 * 2] ? 1 : 0) }
            let mask = try #require(QRCode.Mask(rawValue: bits ^ 0b101))
            let code = try Self.symbol(sample.bytes, sample.version, sample.level, mask)
            let isSame = (0..<code.size).allSatisfy { row in
                (0..<code.size).allSatisfy { cells[row][$0 * 2] == code[row, $0] }
            }
            #expect(cells.count == code.size && isSame, "\(sample.version.number)-\(sample.level.letter)")
        }
    }

    /// A symbol of one segment of octets.
    private static func symbol(
        _ bytes: [UInt8], _ version: QRCode.Version, _ level: QRCode.ErrorCorrection,
        _ mask: QRCode.Mask
    ) throws -> ModuleGrid {
        let blocks = Blocks(version: version, level: level)
        let segments = [Segment(mode: .byte, range: bytes.indices)]
        let data = DataBits.codewords(bytes, segments, version: version, capacity: blocks.dataCount)
        return Canvas(version: version, codewords: blocks.interleaved(data)).finished(level: level, mask: mask).modules
    }
}
