/// The TCP options on the wire (RFC 9293, section 3.1; RFC 2018; RFC 7323).

import Bytes

/// The kinds of option that the gateway knows.
private enum Kind {
    static let end: UInt8 = 0
    static let noOperation: UInt8 = 1
    static let maximumSegmentSize: UInt8 = 2
    static let windowScale: UInt8 = 3
    static let selectiveAcknowledgementPermitted: UInt8 = 4
    static let selectiveAcknowledgement: UInt8 = 5
    static let timestamps: UInt8 = 8
    /// NOP, NOP, timestamps, 10: how nearly every segment of an open connection starts its options.
    static let alignedTimestamps: UInt32 = 0x0101_080a
}

extension TCPOptions {
    /// The octets that options may take in all.
    static let maximumLength = 40

    /// Reads options; those that are unknown or out of place are passed over by their length (MUST-6).
    ///
    /// An impossible length ends the options there (MUST-7): what stood in front of it counts, as with the
    /// kernels that devices talk to otherwise.
    static func parse(_ bytes: Span<UInt8>, in range: Range<Int>, isSYN: Bool) -> TCPOptions {
        var options = TCPOptions()
        if range.count == 12, !isSYN, bytes.uint32(at: range.lowerBound) == Kind.alignedTimestamps {
            options.timestamps = timestamps(bytes, at: range.lowerBound + 4)
            return options
        }
        var position = range.lowerBound
        while position < range.upperBound {
            let kind = bytes[position]
            if kind == Kind.end { break }
            if kind == Kind.noOperation {
                position += 1
                continue
            }
            guard position + 1 < range.upperBound else { break }
            let length = Int(bytes[position + 1])
            guard length >= 2, position + length <= range.upperBound else { break }
            options.take(kind, bytes, at: position + 2, count: length - 2, isSYN: isSYN)
            position += length
        }
        return options
    }

    /// Takes over one option whose value has `count` octets; a known kind of the wrong length is as unknown.
    private mutating func take(_ kind: UInt8, _ bytes: Span<UInt8>, at position: Int, count: Int, isSYN: Bool) {
        switch (kind, count) {
        case (Kind.maximumSegmentSize, 2) where isSYN:
            // No segment could be sent with an MSS of 0: it is as good as none.
            let size = bytes.uint16(at: position)
            maximumSegmentSize = size == 0 ? nil : size
        case (Kind.windowScale, 1) where isSYN:
            windowScale = bytes[position]
        case (Kind.selectiveAcknowledgementPermitted, 0) where isSYN:
            selectiveAcknowledgementPermitted = true
        case (Kind.timestamps, 8):
            timestamps = Self.timestamps(bytes, at: position)
        case (Kind.selectiveAcknowledgement, 8), (Kind.selectiveAcknowledgement, 16),
            (Kind.selectiveAcknowledgement, 24), (Kind.selectiveAcknowledgement, 32):
            selectiveAcknowledgements = SACKBlocks()
            for offset in stride(from: position, to: position + count, by: 8) {
                selectiveAcknowledgements.append(
                    SACKBlock(
                        SequenceNumber(bytes.uint32(at: offset)), SequenceNumber(bytes.uint32(at: offset + 4))))
            }
        default:
            break
        }
    }

    private static func timestamps(_ bytes: Span<UInt8>, at position: Int) -> TCPTimestamps {
        TCPTimestamps(value: bytes.uint32(at: position), echo: bytes.uint32(at: position + 4))
    }

    /// How many SACK blocks fit beside the other options; the rest are left out.
    private var writtenBlocks: Int {
        let room = Self.maximumLength - fixedLength - 4
        return max(0, min(selectiveAcknowledgements.count, room / 8))
    }

    /// The octets of all options but SACK.
    private var fixedLength: Int {
        (maximumSegmentSize == nil ? 0 : 4) + (timestamps == nil && !selectiveAcknowledgementPermitted ? 0 : 4)
            + (timestamps == nil ? 0 : 8) + (windowScale == nil ? 0 : 4)
    }

    /// The octets that `write` will take, padding included: a multiple of four, 40 at most.
    public var length: Int {
        let blocks = writtenBlocks
        return fixedLength + (blocks == 0 ? 0 : 4 + 8 * blocks)
    }

    /// Writes the options at `offset`, each aligned to four octets by NOPs in front, and returns their length.
    func write(into bytes: inout MutableSpan<UInt8>, at offset: Int) -> Int {
        var position = offset
        if let maximumSegmentSize {
            bytes.store(UInt32(Kind.maximumSegmentSize) << 24 | 4 << 16 | UInt32(maximumSegmentSize), at: position)
            position += 4
        }
        if let timestamps {
            // SACK-Permitted takes the place of the padding.
            bytes.store(
                selectiveAcknowledgementPermitted ? UInt32(0x0402_080a) : Kind.alignedTimestamps, at: position)
            bytes.store(timestamps.value, at: position + 4)
            bytes.store(timestamps.echo, at: position + 8)
            position += 12
        } else if selectiveAcknowledgementPermitted {
            bytes.store(UInt32(0x0101_0402), at: position)
            position += 4
        }
        if let windowScale {
            bytes.store(UInt32(0x0103_0300) | UInt32(windowScale), at: position)
            position += 4
        }
        let blocks = writtenBlocks
        guard blocks > 0 else { return position - offset }
        bytes.store(UInt32(0x0101_0500) | UInt32(2 + 8 * blocks), at: position)
        position += 4
        for index in 0..<blocks {
            bytes.store(selectiveAcknowledgements[index].start.value, at: position)
            bytes.store(selectiveAcknowledgements[index].end.value, at: position + 4)
            position += 8
        }
        return position - offset
    }
}
