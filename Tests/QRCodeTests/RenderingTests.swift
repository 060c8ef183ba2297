/// What is drawn is the symbol, with its quiet zone.

import TestSupport
import Testing

@testable import QRCode

/// The modules of a symbol with a quiet zone around them, row by row.
private func framed(_ code: QRCode) -> [[Bool]] {
    let range = -QRCode.quietZone..<code.size + QRCode.quietZone
    return range.map { row in range.map { code[row, $0] } }
}

struct QRCodeTerminalTests {
    /// Reads drawn half blocks back, knowing which colour the characters have.
    private func modules(_ lines: [Substring], inkIsDark: Bool) throws -> [[Bool]] {
        try lines.flatMap { line in
            let pairs = try line.map { character in
                try #require(
                    ["█": (true, true), "▀": (true, false), "▄": (false, true), " ": (false, false)][character])
            }
            return [pairs.map { $0.0 == inkIsDark }, pairs.map { $0.1 == inkIsDark }]
        }
    }

    @Test("the drawn half blocks are the symbol and its quiet zone", arguments: [1, 2, 7, 23, 40])
    func drawn(number: Int) throws {
        let version = try #require(QRCode.Version(number))
        let code = try QRCode("starship", versions: version...version, mask: .meadow)
        let expected = framed(code) + [[Bool](repeating: false, count: code.size + 8)]

        let (on, off) = ("\u{1b}[38;5;16;48;5;231m", "\u{1b}[0m")
        let coloured = code.terminal(.coloured).split(separator: "\n")
        #expect(coloured.allSatisfy { $0.hasPrefix(on) && $0.hasSuffix(off) })
        let inside = coloured.map { $0.dropFirst(on.count).dropLast(off.count) }
        #expect(try modules(inside, inkIsDark: true) == expected)

        for background in QRCode.TerminalStyle.Background.allCases {
            let lines = code.terminal(.plain(on: background)).split(separator: "\n")
            #expect(lines.last == "(drawn for a \(background.rawValue) background)")
            #expect(try modules(lines.dropLast(), inkIsDark: background == .light) == expected)
            #expect(lines.allSatisfy { !$0.contains("\u{1b}") })
        }
    }
}

struct QRCodeDrawingTests {
    @Test("the path of the drawing fills the dark modules and nothing else", arguments: [1, 7, 40])
    func path(number: Int) throws {
        let version = try #require(QRCode.Version(number))
        let code = try QRCode("starship", versions: version...version, mask: .rows)
        var filled = [[Bool]](repeating: [Bool](repeating: false, count: code.size), count: code.size)
        for piece in code.path.split(separator: "M") {
            let numbers = piece.split { !$0.isNumber }.compactMap { Int($0) }
            let (column, row, width) = (numbers[0], numbers[1], numbers[2])
            #expect(piece == "\(column) \(row)h\(width)v1h-\(width)z")
            for index in column..<column + width { filled[row][index] = true }
        }
        #expect(filled == (0..<code.size).map { row in (0..<code.size).map { code[row, $0] } })
    }

    @Test("the document names its size, and leaves the quiet zone free")
    func document() throws {
        let svg = try QRCode("A").svg(module: 10)
        #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"290\" height=\"290\" "))
        #expect(svg.contains("viewBox=\"-4 -4 29 29\""))
        #expect(svg.components { $0 == "<" }.count == 5, "a rectangle and one path")
    }

    @Test("an image has the size that was asked for, and its pixels are the symbol", arguments: [1, 3, 8])
    func image(module: Int) throws {
        let scratch = try Scratch()
        let code = try QRCode("starship", level: .high)
        try Scratch.put(code.png(module: module), scratch.path("code.png"))
        // Python takes the file apart: chunks with their checksums, zlib with its own, filters 0 and 2.
        let program = """
            import struct, zlib
            data = open("code.png", "rb").read()
            assert data[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
            chunks, place = {}, 8
            while place < len(data):
                size, kind = struct.unpack(">I4s", data[place:place + 8])
                body = data[place + 8:place + 8 + size]
                assert struct.unpack(">I", data[place + 8 + size:place + 12 + size])[0] == zlib.crc32(kind + body)
                chunks[kind], place = body, place + 12 + size
            width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
            assert chunks[b"IHDR"][8:] == bytes([1, 0, 0, 0, 0]) and list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
            raw, stride = zlib.decompress(chunks[b"IDAT"]), (width + 7) // 8 + 1
            above = bytes(stride - 1)
            assert len(raw) == stride * height
            for start in range(0, len(raw), stride):
                line = raw[start + 1:start + stride]
                above = line if raw[start] == 0 else bytes((a + b) & 255 for a, b in zip(line, above))
                print("".join(f"{octet:08b}" for octet in above)[:width])
            """
        let result = try Command.run(["python3", "-c", program], in: scratch.directory)
        try #require(result.status == 0, "\(result.errors)")
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
        let side = (code.size + 8) * module
        #expect(lines.count == side)
        for (row, line) in lines.enumerated() {
            let expected = (0..<side).map { code[row / module - 4, $0 / module - 4] ? "0" : "1" }.joined()
            #expect(line == expected, "line \(row)")
        }
    }

    @Test("runs of every length are packed so that zlib unpacks them")
    func deflate() throws {
        let scratch = try Scratch()
        var original: [UInt8] = []
        for length in 1...600 { original += [UInt8](repeating: UInt8(length * 7 % 256), count: length) }
        original += [0xff, 0x00, 0x90, 0x8f] + [UInt8](repeating: 5, count: 5000)
        var deflate = DeflateRuns()
        deflate.append(original)
        let packed = deflate.finish()
        let program = "import sys, zlib; sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read(), -15))"
        let result = try Command.run(["python3", "-c", program], in: scratch.directory, input: packed)
        #expect(result.output == original, "\(result.errors)")
        #expect(packed.count * 30 < original.count)
    }

    @Test("the checksum of zlib is that of RFC 1950 (the word Wikipedia gives 0x11E60398)")
    func adler() {
        var sum = Adler32()
        sum.update(Array("Wikipedia".utf8))
        #expect(sum.value == 0x11e6_0398)
    }
}

extension String {
    fileprivate func components(_ isSeparator: (Character) -> Bool) -> [Substring] {
        split(omittingEmptySubsequences: false, whereSeparator: isSeparator)
    }
}
