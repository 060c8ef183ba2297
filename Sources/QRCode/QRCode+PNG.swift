/// A symbol as an image: PNG, one bit a pixel (PNG specification, third edition).

internal import Digest

extension QRCode {
    /// The sides that a module can have in an image, in pixels.
    public static let imageModules = 1...64

    /// An image of the symbol in black on white, its quiet zone around it.
    ///
    /// - Parameter module: The side of a module in pixels, within `imageModules`.
    /// - Returns: The octets of the file.
    public func png(module: Int = 8) -> [UInt8] {
        precondition(Self.imageModules.contains(module), "a module of no such size")
        let side = (size + 2 * Self.quietZone) * module
        var file: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        // Width, height, one bit a sample, greyscale, and the only compression, filtering and order that do here.
        Self.append("IHDR", Self.number(side) + Self.number(side) + [1, 0, 0, 0, 0], to: &file)
        Self.append("IDAT", zlib(module), to: &file)
        Self.append("IEND", [], to: &file)
        return file
    }

    /// The lines of pixels, each behind its filter, in a zlib stream (RFC 1950).
    private func zlib(_ module: Int) -> [UInt8] {
        var deflate = DeflateRuns()
        var sum = Adler32()
        for row in -Self.quietZone..<size + Self.quietZone {
            let line = [0] + pixels(row, module)
            deflate.append(line)
            sum.update(line)
            // A line like the one above it is all zeros under the filter Up.
            for _ in 1..<module {
                deflate.append(2, count: 1)
                deflate.append(0, count: line.count - 1)
                sum.update(2)
                sum.update(zeros: line.count - 1)
            }
        }
        // Deflate with a window of 32 KiB, no dictionary, fastest algorithm.
        return [0x78, 0x01] + deflate.finish() + Self.number(Int(sum.value))
    }

    /// One line of pixels of a row of modules; white is 1.
    private func pixels(_ row: Int, _ module: Int) -> [UInt8] {
        let side = size + 2 * Self.quietZone
        var line = [UInt8](repeating: 0, count: (side * module + 7) / 8)
        for column in 0..<side where !self[row, column - Self.quietZone] {
            for pixel in column * module..<(column + 1) * module { line[pixel / 8] |= 0x80 >> UInt8(pixel % 8) }
        }
        return line
    }

    private static func append(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
        let body = Array(type.utf8) + data
        file += number(data.count) + body + number(Int(CRC32.checksum(body.span)))
    }

    /// Four octets, the most significant one first.
    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}

/// The checksum of zlib streams (RFC 1950, section 8.2).
struct Adler32 {
    private var low: UInt32 = 1
    private var high: UInt32 = 0

    mutating func update(_ bytes: [UInt8]) {
        for octet in bytes { update(octet) }
    }

    mutating func update(_ octet: UInt8) {
        low = (low + UInt32(octet)) % 65_521
        high = (high + low) % 65_521
    }

    mutating func update(zeros count: Int) {
        high = UInt32((Int(high) + Int(low) * count) % 65_521)
    }

    var value: UInt32 { high << 16 | low }
}
