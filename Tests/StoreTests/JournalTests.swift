/// Journals: what is read back, whatever happened to the file.

import Bytes
import Digest
import LinuxIO
import TestSupport
import Testing

@testable import Store

@Suite struct JournalTests {
    static let format = JournalFormat(name: "test", version: 3)

    /// The record of a number: between 1 and 40 octets that all follow from it.
    static func record(_ number: Int) -> [UInt8] {
        [UInt8(number >> 8), UInt8(number & 0xff)] + [UInt8](repeating: UInt8(number & 0x7f), count: number % 39)
    }

    static func number(_ record: Span<UInt8>) -> Int {
        let number = Int(record[0]) << 8 | Int(record[1])
        let expected = Self.record(number)
        guard record.count == expected.count, record.indices.allSatisfy({ record[$0] == expected[$0] }) else {
            return -1
        }
        return number
    }

    static func batch(_ numbers: Range<Int>) -> JournalBatch {
        var batch = JournalBatch()
        for number in numbers { batch.append { $0 += record(number) } }
        return batch
    }

    /// What a file of these octets reads as.
    private static func read(
        _ bytes: [UInt8], in scratch: borrowing Scratch, _ directory: borrowing StateDirectory
    ) throws -> (numbers: [Int], summary: Journal.Summary) {
        try Scratch.put(bytes, "\(scratch.directory)/log")
        var numbers: [Int] = []
        let summary = try Journal.read("log", in: directory, format: format, limit: 1 << 20) {
            numbers.append(number($0))
        }
        return (numbers, try #require(summary))
    }

    @Test func recordsComeBackInTheirOrder() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.directory)
        let nothing = try Journal.read("log", in: directory, format: Self.format, limit: 100) { _ in }
        #expect(nothing == nil)
        var journal = try Journal.rewrite("log", in: directory, format: Self.format, Self.batch(0..<5))
        try journal.append(Self.batch(5..<6))
        try journal.append(Self.batch(6..<50))
        let isUnsynced = journal.isUnsynced
        #expect(isUnsynced)
        try journal.sync()
        let bytes = try #require(try directory.read("log", limit: 1 << 20))
        let size = journal.size
        #expect(bytes.count == size)
        #expect(bytes.starts(with: Array("starship test 3\n".utf8)))
        let (numbers, summary) = try Self.read(bytes, in: scratch, directory)
        #expect(numbers == Array(0..<50))
        #expect(summary == Journal.Summary(records: 50, dropped: 0))
    }

    @Test func aRecordIsItsLengthItsChecksumAndItself() {
        var batch = JournalBatch()
        batch.append { $0 += Array("123456789".utf8) }
        // CRC-32 of 00 09 31 … 39, by zlib.
        #expect(batch.bytes == [0, 9, 0xba, 0x6f, 0xb7, 0xae] + Array("123456789".utf8))
    }

    @Test("a file that ends at any octet has all its whole records")
    func tornAnywhere() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.directory)
        let whole = Self.format.header + Self.batch(0..<60).bytes
        var ends = [Self.format.header.count]
        for number in 0..<60 { ends.append((ends.last ?? 0) + Self.batch(number..<number + 1).bytes.count) }
        for length in Self.format.header.count...whole.count {
            let (numbers, summary) = try Self.read(Array(whole.prefix(length)), in: scratch, directory)
            let expected = ends.lastIndex { $0 <= length } ?? 0
            #expect(numbers == Array(0..<expected), "\(length) octets")
            #expect(summary.dropped == length - ends[expected])
        }
    }

    @Test("damage anywhere costs records, and never makes another one", arguments: LongRun.seeds(20, long: 500))
    func damaged(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.directory)
        var bytes = Self.format.header + Self.batch(0..<60).bytes
        for _ in 0...random.number(0..<3) {
            let position = random.number(Self.format.header.count..<bytes.count)
            switch random.number(0..<3) {
            case 0: bytes[position] ^= UInt8(1 << random.number(0..<8))
            case 1: bytes.replaceSubrange(position..., with: [UInt8](repeating: 0, count: bytes.count - position))
            default: bytes.replaceSubrange(position..., with: random.bytes(bytes.count - position))
            }
        }
        let (numbers, _) = try Self.read(bytes, in: scratch, directory)
        #expect(numbers == Array(0..<numbers.count), "seed \(seed)")
    }

    @Test func otherFilesAreNamedAsWhatTheyAre() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.directory)
        let path = "\(scratch.directory)/log"
        let cases: [(text: String, error: StoreError)] = [
            ("", .foreign(path: path)), ("starship test 3", .foreign(path: path)),
            ("starship other 3\n", .foreign(path: path)), ("\u{0}\u{0}\u{0}\n", .foreign(path: path)),
            ("starship test 4\n", .version(path: path, found: "4", known: 3)),
            ("starship test 03\n", .version(path: path, found: "03", known: 3)),
        ]
        for (text, error) in cases {
            try Scratch.put(Array(text.utf8), path)
            #expect(throws: error) {
                _ = try Journal.read("log", in: directory, format: Self.format, limit: 100) { _ in }
            }
        }
        try Scratch.put([UInt8](repeating: 1, count: 101), path)
        #expect(throws: StoreError.file(.tooLarge(path: path, limit: 100))) {
            _ = try Journal.read("log", in: directory, format: Self.format, limit: 100) { _ in }
        }
    }

    @Test func writingAnewLeavesOnlyWhatCounts() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.directory)
        var journal = try Journal.rewrite("log", in: directory, format: Self.format, Self.batch(0..<40))
        journal = try Journal.rewrite("log", in: directory, format: Self.format, Self.batch(30..<40))
        try journal.append(Self.batch(40..<42))
        let bytes = try #require(try directory.read("log", limit: 1 << 20))
        let (numbers, _) = try Self.read(bytes, in: scratch, directory)
        #expect(numbers == Array(30..<42))
    }
}
