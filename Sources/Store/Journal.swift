/// A file that grows by records, and is written anew when it has grown too much.

import LinuxIO

/// An open journal.
///
/// After an error of `append` or `sync` it is unknown what the file holds behind its last whole record: the journal
/// has to be written anew, which replaces the file.
public struct Journal: ~Copyable, Sendable {
    /// What was read of an earlier run's journal.
    public struct Summary: Equatable, Sendable {
        public internal(set) var records = 0
        /// Octets behind the last whole record: one that was being appended when the process was killed.
        public internal(set) var dropped = 0
    }

    private let file: FileWriter

    /// The octets of the file.
    public private(set) var size: Int

    /// Whether something was appended that the disk may not have yet.
    public private(set) var isUnsynced = false

    /// Reads the records of a journal, in their order; nil when there is no file of this name.
    public static func read(
        _ name: String, in directory: borrowing StateDirectory, format: JournalFormat, limit: Int,
        _ take: (Span<UInt8>) -> Void
    ) throws(StoreError) -> Summary? {
        guard let bytes = try directory.read(name, limit: limit) else { return nil }
        switch format.recognise(bytes) {
        case .known(let headerLength): return records(of: bytes.span, from: headerLength, take)
        case .otherVersion(let version):
            throw .version(path: "\(directory.path)/\(name)", found: version, known: format.version)
        case .foreign: throw .foreign(path: "\(directory.path)/\(name)")
        }
    }

    /// Writes a journal anew with the records that still count, in the place of the old one.
    ///
    /// The disk has it when this returns; when it fails the old one is untouched.
    public static func rewrite(
        _ name: String, in directory: borrowing StateDirectory, format: JournalFormat, _ records: JournalBatch
    ) throws(StoreError) -> Journal {
        let bytes = format.header + records.bytes
        return Journal(file: try directory.replaceAndKeepOpen(name, with: bytes.span), size: bytes.count)
    }

    private init(file: consuming FileWriter, size: Int) {
        self.file = file
        self.size = size
    }

    /// Appends records: when it returns the end of this process loses none of them.
    public mutating func append(_ records: JournalBatch) throws(StoreError) {
        do throws(SystemCallError) {
            isUnsynced = true
            try file.write(records.bytes.span)
            size += records.bytes.count
        } catch {
            throw .system(error)
        }
    }

    /// Waits until the disk has everything that was appended.
    public mutating func sync() throws(StoreError) {
        do throws(SystemCallError) {
            try file.sync()
            isUnsynced = false
        } catch {
            throw .system(error)
        }
    }

    private static func records(
        of bytes: Span<UInt8>, from start: Int, _ take: (Span<UInt8>) -> Void
    ) -> Summary {
        var summary = Summary()
        var position = start
        while let record = JournalBatch.record(in: bytes, at: position) {
            take(bytes.extracting(record))
            summary.records += 1
            position = record.upperBound
        }
        summary.dropped = bytes.count - position
        return summary
    }
}
