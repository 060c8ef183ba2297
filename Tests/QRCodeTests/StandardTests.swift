/// The tables and examples of ISO/IEC 18004:2015.

import Testing

@testable import QRCode

struct QRCodeStandardTests {
    private func data(_ text: String, _ level: QRCode.ErrorCorrection, version: Int = 1) throws -> [UInt8] {
        let version = try #require(QRCode.Version(version))
        let bytes = Array(text.utf8)
        let capacity = Blocks(version: version, level: level).dataCount
        return DataBits.codewords(
            bytes, Segmentation.shortest(bytes, in: version), version: version, capacity: capacity)
    }

    @Test("annex I: the codewords of 01234567 in a 1-M symbol")
    func annexI() throws {
        let data = try data("01234567", .medium)
        #expect(
            data == [
                0x10, 0x20, 0x0c, 0x56, 0x61, 0x80, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11,
            ])
        #expect(
            ReedSolomon(degree: 10).correction(of: data[...])
                == [0xa5, 0x24, 0xd4, 0xc1, 0xed, 0x36, 0xc7, 0x87, 0x2c, 0x55])
    }

    @Test("HELLO WORLD in a 1-Q and in a 1-M symbol")
    func helloWorld() throws {
        let quartile = try data("HELLO WORLD", .quartile)
        #expect(quartile == [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236])
        #expect(
            ReedSolomon(degree: 13).correction(of: quartile[...])
                == [168, 72, 22, 82, 217, 54, 156, 0, 46, 15, 180, 122, 16])
        let medium = try data("HELLO WORLD", .medium)
        #expect(medium == [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17])
        #expect(
            ReedSolomon(degree: 10).correction(of: medium[...]) == [196, 35, 39, 119, 235, 215, 231, 226, 93, 23])
    }

    @Test(
        "annex A: generator polynomials, as powers of 2",
        arguments: [
            (7, [87, 229, 146, 149, 238, 102, 21]), (10, [251, 67, 46, 61, 118, 70, 64, 94, 32, 45]),
            (13, [74, 152, 176, 100, 86, 100, 106, 104, 130, 218, 206, 140, 78]),
            (15, [8, 183, 61, 91, 202, 37, 51, 58, 58, 237, 140, 124, 5, 99, 105]),
            (17, [43, 139, 206, 78, 43, 239, 123, 206, 214, 147, 24, 99, 150, 39, 243, 163, 136]),
        ])
    func generators(degree: Int, exponents: [Int]) {
        #expect(ReedSolomon(degree: degree).generator.map { GaloisField.logarithms[Int($0)] } == exponents)
    }

    @Test("annex C: format information")
    func formats() {
        // By the five bits of level and mask: M, L, H, Q.
        let table: [UInt32] = [
            0x5412, 0x5125, 0x5e7c, 0x5b4b, 0x45f9, 0x40ce, 0x4f97, 0x4aa0, 0x77c4, 0x72f3, 0x7daa, 0x789d, 0x662f,
            0x6318, 0x6c41, 0x6976, 0x1689, 0x13be, 0x1ce7, 0x19d0, 0x0762, 0x0255, 0x0d0c, 0x083b, 0x355f, 0x3068,
            0x3f31, 0x3a06, 0x24b4, 0x2183, 0x2eda, 0x2bed,
        ]
        let levels: [QRCode.ErrorCorrection] = [.medium, .low, .high, .quartile]
        for (index, level) in levels.enumerated() {
            for mask in QRCode.Mask.allCases {
                #expect(FormatBits.format(level: level, mask: mask) == table[index * 8 + mask.rawValue])
            }
        }
    }

    @Test("annex D: version information")
    func versions() {
        let table: [UInt32] = [
            0x07c94, 0x085bc, 0x09a99, 0x0a4d3, 0x0bbf6, 0x0c762, 0x0d847, 0x0e60d, 0x0f928, 0x10b78, 0x1145d, 0x12a17,
            0x13532, 0x149a6, 0x15683, 0x168c9, 0x177ec, 0x18ec4, 0x191e1, 0x1afab, 0x1b08e, 0x1cc1a, 0x1d33f, 0x1ed75,
            0x1f250, 0x209d5, 0x216f0, 0x228ba, 0x2379f, 0x24b0b, 0x2542e, 0x26a64, 0x27541, 0x28c69,
        ]
        #expect(QRCode.Version.all.dropFirst(6).map(FormatBits.version) == table)
    }

    @Test(
        "annex E: centres of alignment patterns",
        arguments: [
            (1, []), (2, [6, 18]), (6, [6, 34]), (7, [6, 22, 38]), (14, [6, 26, 46, 66]), (15, [6, 26, 48, 70]),
            (22, [6, 26, 50, 74, 98]), (30, [6, 26, 52, 78, 104, 130]), (32, [6, 34, 60, 86, 112, 138]),
            (36, [6, 24, 50, 76, 102, 128, 154]), (39, [6, 26, 54, 82, 110, 138, 166]),
            (40, [6, 30, 58, 86, 114, 142, 170]),
        ])
    func alignment(number: Int, centres: [Int]) throws {
        #expect(try #require(QRCode.Version(number)).alignment == centres)
    }

    @Test(
        "table 7: the most digits, characters and octets of a symbol",
        arguments: [
            (1, QRCode.ErrorCorrection.low, 41, 25, 17), (1, .high, 17, 10, 7), (5, .quartile, 144, 87, 60),
            (9, .low, 552, 335, 230), (10, .low, 652, 395, 271), (26, .medium, 2544, 1542, 1059),
            (27, .low, 3517, 2132, 1465), (32, .quartile, 2670, 1618, 1112), (40, .low, 7089, 4296, 2953),
            (40, .medium, 5596, 3391, 2331), (40, .quartile, 3993, 2420, 1663), (40, .high, 3057, 1852, 1273),
        ])
    func capacities(number: Int, level: QRCode.ErrorCorrection, digits: Int, characters: Int, octets: Int) throws {
        let version = try #require(QRCode.Version(number))
        #expect(version.octets(at: level) == octets)
        for (letter, count) in [("7", digits), ("A", characters), ("a", octets)] {
            let text = String(repeating: letter, count: count)
            #expect(try QRCode(text, level: level, versions: version...version, mask: .rows).version == version)
            let error = #expect(throws: QRCodeError.self) {
                try QRCode(text + letter, level: level, versions: version...version)
            }
            #expect(error?.fits == octets)
        }
    }

    @Test("a text that is too long is refused in one line that says what would fit")
    func refusal() throws {
        let text = String(repeating: "é", count: 700)
        let error = try #require(throws: QRCodeError.self) { try QRCode(text, level: .high) }
        #expect(
            "\(error)"
                == "the text is too long for a QR code: found 1400 octets; expected at most 1273 (version 40, error "
                + "correction H); a lower level holds more")
        #expect(throws: QRCodeError.self) { try QRCode(bytes: [UInt8](repeating: 0x30, count: 1_000_000)) }
    }

    @Test("versions and levels have their names, and no others")
    func names() {
        #expect(QRCode.Version(0) == nil && QRCode.Version(41) == nil && QRCode.Version(40)?.size == 177)
        #expect(QRCode.ErrorCorrection.allCases.map(\.letter) == ["L", "M", "Q", "H"])
        #expect(QRCode.ErrorCorrection(letter: "q") == .quartile && QRCode.ErrorCorrection(letter: "X") == nil)
    }
}
