/// Deflate for images that are mostly runs of one octet (RFC 1951).

/// One block with the fixed Huffman codes, in which a run is written once and repeated from a distance of one octet.
struct DeflateRuns {
    private var bytes: [UInt8] = []
    private var pending: UInt32 = 0
    private var pendingBits = 0
    private var run: (octet: UInt8, count: Int)?

    init() {
        // The last block, with fixed codes.
        write(0b011, 3)
    }

    mutating func append(_ octets: [UInt8]) {
        for octet in octets { append(octet, count: 1) }
    }

    /// Takes one octet, so many times.
    mutating func append(_ octet: UInt8, count: Int) {
        if let run, run.octet == octet {
            self.run = (octet, run.count + count)
        } else {
            flush()
            run = (octet, count)
        }
    }

    /// Ends the stream.
    mutating func finish() -> [UInt8] {
        flush()
        writeSymbol(256)
        write(0, (8 - pendingBits % 8) % 8)
        return bytes
    }

    /// Writes the run: its octet, and then as many copies of the octet before as are left.
    private mutating func flush() {
        guard let run else { return }
        self.run = nil
        writeSymbol(Int(run.octet))
        var left = run.count - 1
        while left >= 3 {
            let length = min(258, left)
            writeLength(length)
            // Distance 1 is code 0 of five bits.
            write(0, 5)
            left -= length
        }
        for _ in 0..<left { writeSymbol(Int(run.octet)) }
    }

    /// Writes a length from 3 to 258 (section 3.2.5).
    private mutating func writeLength(_ length: Int) {
        guard length < 258 else { return writeSymbol(285) }
        var (first, base, extra) = (257, 3, 0)
        // Eight codes without extra bits, and then four for each number of them.
        while length >= base + (first == 257 ? 8 : 4) << extra {
            base += (first == 257 ? 8 : 4) << extra
            first += first == 257 ? 8 : 4
            extra += 1
        }
        writeSymbol(first + (length - base) >> extra)
        write(UInt32((length - base) & (1 << extra - 1)), extra)
    }

    private mutating func writeSymbol(_ symbol: Int) {
        let (code, width) = Self.codes[symbol]
        write(code, width)
    }

    /// The fixed codes of literals and lengths (section 3.2.6).
    ///
    /// Huffman codes alone go with their most significant bit first: here they are turned around already.
    private static let codes: [(code: UInt32, width: Int)] = (0..<288).map { symbol in
        let (code, width) =
            switch symbol {
            case 0...143: (0x30 + symbol, 8)
            case 144...255: (0x190 + symbol - 144, 9)
            case 256...279: (symbol - 256, 7)
            default: (0xc0 + symbol - 280, 8)
            }
        return ((0..<width).reduce(0) { $0 << 1 | UInt32(code >> $1 & 1) }, width)
    }

    private mutating func write(_ value: UInt32, _ width: Int) {
        pending |= value << UInt32(pendingBits)
        pendingBits += width
        while pendingBits >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            pendingBits -= 8
        }
    }
}
