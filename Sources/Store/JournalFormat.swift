/// A journal's octets: one line that says what it is, then records, each with its checksum.
///
///     starship fake-map 1\n  │ length 2 │ CRC-32 4 │ record …  │ length 2 │ CRC-32 4 │ record …
///
/// The checksum covers length and record. A process that is killed while it appends leaves a last record that is cut
/// off; reading ends before the first record that is not whole, and says how much it left.

import Digest

/// What a journal is for, and which version of it.
public struct JournalFormat: Equatable, Sendable {
    public let name: String
    public let version: Int

    public init(name: String, version: Int) {
        self.name = name
        self.version = version
    }

    /// The octets before the first record.
    var header: [UInt8] { Array("\(title)\(version)\n".utf8) }

    private var title: String { "starship \(name) " }

    /// What was found in a file.
    enum Recognition: Equatable {
        /// Records begin behind so many octets.
        case known(headerLength: Int)
        case otherVersion(String)
        case foreign
    }

    /// Says what a file is by its first line.
    func recognise(_ bytes: [UInt8]) -> Recognition {
        guard let end = bytes.prefix(100).firstIndex(of: UInt8(ascii: "\n")), bytes.starts(with: title.utf8) else {
            return .foreign
        }
        let version = String(decoding: bytes[title.utf8.count..<end], as: UTF8.self)
        return version == "\(self.version)" ? .known(headerLength: end + 1) : .otherVersion(version)
    }
}

/// Records that are ready to be written.
public struct JournalBatch: Sendable {
    /// Octets before each record.
    static let overhead = 6

    /// The longest record.
    public static let longestRecord = 0xffff

    public private(set) var bytes: [UInt8] = []

    public init() {}

    public var isEmpty: Bool { bytes.isEmpty }

    /// Adds a record, which `write` appends to the array that it is given: 1 to `longestRecord` octets.
    public mutating func append(_ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: Self.overhead))
        write(&bytes)
        let length = bytes.count - start - Self.overhead
        precondition(length > 0 && length <= Self.longestRecord, "no record of this length")
        bytes[start] = UInt8(length >> 8)
        bytes[start + 1] = UInt8(length & 0xff)
        let checksum = Self.checksum(bytes.span, at: start, length)
        for octet in 0..<4 { bytes[start + 2 + octet] = UInt8(truncatingIfNeeded: checksum >> UInt32(24 - 8 * octet)) }
    }

    /// Takes everything out.
    public mutating func take() -> JournalBatch {
        let batch = self
        self = JournalBatch()
        return batch
    }

    /// The checksum that the record at an offset has to have.
    private static func checksum(_ bytes: Span<UInt8>, at start: Int, _ length: Int) -> UInt32 {
        var checksum = CRC32()
        checksum.update(bytes.extracting(start..<start + 2))
        checksum.update(bytes.extracting(start + overhead..<start + overhead + length))
        return checksum.value
    }

    /// The record at an offset, or nil when no whole one stands there.
    static func record(in bytes: Span<UInt8>, at start: Int) -> Range<Int>? {
        guard bytes.count - start > overhead else { return nil }
        let length = Int(bytes[start]) << 8 | Int(bytes[start + 1])
        guard length > 0, bytes.count - start - overhead >= length else { return nil }
        var found: UInt32 = 0
        for octet in 2..<6 { found = found << 8 | UInt32(bytes[start + octet]) }
        guard found == checksum(bytes, at: start, length) else { return nil }
        return start + overhead..<start + overhead + length
    }
}
