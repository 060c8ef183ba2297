/// How the codewords of a symbol are cut into blocks and woven together (sections 7.5.1 and 7.6).

struct Blocks {
    /// All codewords of the symbol.
    let total: Int
    let count: Int
    /// Error correction codewords of each block.
    let correction: Int

    /// Data codewords of all blocks together.
    var dataCount: Int { total - count * correction }

    init(version: QRCode.Version, level: QRCode.ErrorCorrection) {
        total = version.dataModules / 8
        count = Self.counts[level.rawValue][version.number - 1]
        correction = Self.corrections[level.rawValue][version.number - 1]
    }

    /// Cuts the data into blocks, adds each block's correction, and takes the first codeword of each block, the second
    /// of each, and so on; the last blocks are one codeword longer where the division leaves a rest.
    func interleaved(_ data: [UInt8]) -> [UInt8] {
        precondition(data.count == dataCount, "data of another symbol")
        let code = ReedSolomon(degree: correction)
        let short = dataCount / count
        let firstLong = count - dataCount % count
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        for block in 0..<count {
            let end = start + short + (block >= firstLong ? 1 : 0)
            pieces.append(data[start..<end])
            start = end
        }
        let corrections = pieces.map { code.correction(of: $0) }
        var woven: [UInt8] = []
        woven.reserveCapacity(total)
        for index in 0...short {
            for piece in pieces where index < piece.count { woven.append(piece[piece.startIndex + index]) }
        }
        for index in 0..<correction {
            for octets in corrections { woven.append(octets[index]) }
        }
        return woven
    }

    /// Table 9: error correction codewords of a block, by level and version.
    private static let corrections: [[Int]] = [
        [
            7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30,
            30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
        [
            10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28,
            28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        ],
        [
            13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30, 28, 30, 30, 30, 30, 28, 30,
            30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
        [
            17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28, 30, 24, 30, 30, 30, 30, 30,
            30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
    ]

    /// Table 9: blocks, by level and version.
    private static let counts: [[Int]] = [
        [
            1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18,
            19, 19, 20, 21, 22, 24, 25,
        ],
        [
            1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29,
            31, 33, 35, 37, 38, 40, 43, 45, 47, 49,
        ],
        [
            1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20, 23, 23, 25, 27, 29, 34, 34, 35, 38, 40,
            43, 45, 48, 51, 53, 56, 59, 62, 65, 68,
        ],
        [
            1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25, 25, 34, 30, 32, 35, 37, 40, 42, 45,
            48, 51, 54, 57, 60, 63, 66, 70, 74, 77, 81,
        ],
    ]
}
