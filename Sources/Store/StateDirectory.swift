/// # Store: what outlives the program
///
/// One directory, which one process at a time may use. A file in it is either replaced as a whole, or it is a
/// journal that records are appended to; in both cases a kill at any moment leaves something whole behind.
///
///     StateDirectory.replace   write beside, fsync, rename, fsync the directory     the old file, or the new one
///     Journal                  checksummed records, appended                        all records but a torn last one
///     Revisions                the last 20 files that were each written whole       the old newest one, or the new one
///
/// What was appended survives the end of the process at once (the kernel has it), and the end of power after `sync`.

import LinuxIO

/// The directory of this process's state.
public struct StateDirectory: ~Copyable, Sendable {
    /// The end of the name under which a new file is written before it takes the old one's place.
    static let unfinished = ".new"

    private let folder: Folder

    /// Opens the directory for this process alone, and makes it where its parent is there.
    public init(_ path: String) throws(StoreError) {
        folder = try Self.claim(path)
    }

    /// Opens a folder of a directory for this process alone; both are made, the directory where its parent is there.
    ///
    /// The directory itself stays free: another part of the program keeps its own files there.
    init(_ name: String, in parent: String) throws(StoreError) {
        do throws(SystemCallError) {
            let outer = try Folder(parent)
            _ = try Folder("\(parent)/\(name)")
            // The end of power must not take the folder back that revisions are in.
            try outer.sync()
        } catch {
            throw .system(error)
        }
        folder = try Self.claim("\(parent)/\(name)")
    }

    private static func claim(_ path: String) throws(StoreError) -> Folder {
        do throws(SystemCallError) {
            let folder = try Folder(path)
            if try folder.claim() { return folder }
        } catch {
            throw .system(error)
        }
        throw .inUse(path: path)
    }

    public var path: String { folder.path }

    /// The names of all files, sorted.
    func names() throws(StoreError) -> [String] {
        do throws(SystemCallError) { return try folder.names() } catch { throw .system(error) }
    }

    /// Removes a file if it is there.
    func remove(_ name: String) throws(StoreError) {
        do throws(SystemCallError) { try folder.remove(name) } catch { throw .system(error) }
    }

    /// Reads a whole file of at most `limit` bytes; nil when there is none.
    public func read(_ name: String, limit: Int) throws(StoreError) -> [UInt8]? {
        do throws(FileError) {
            return try folder.read(name, limit: limit)
        } catch {
            throw .file(error)
        }
    }

    /// Puts a new file in the place of an old one: whoever reads, at whatever moment, finds one of the two.
    ///
    /// When it fails (no room, among others) the old file is untouched.
    public func replace(_ name: String, with bytes: Span<UInt8>) throws(StoreError) {
        _ = try replaceAndKeepOpen(name, with: bytes)
    }

    /// As `replace`; the file can be written on.
    func replaceAndKeepOpen(_ name: String, with bytes: Span<UInt8>) throws(StoreError) -> FileWriter {
        do throws(SystemCallError) {
            let file = try folder.create(name + Self.unfinished)
            try file.write(bytes)
            try file.sync()
            try folder.rename(name + Self.unfinished, to: name)
            // Without this the end of power may bring the old name back.
            try folder.sync()
            return file
        } catch {
            // It may be what fills the disk; where it cannot be removed the next attempt overwrites it.
            try? folder.remove(name + Self.unfinished)
            throw .system(error)
        }
    }

    /// Renames a file that cannot be used, so that it is neither lost nor in the way; returns its new name.
    public func setAside(_ name: String) throws(StoreError) -> String {
        do throws(SystemCallError) {
            try folder.rename(name, to: name + ".unread")
            return name + ".unread"
        } catch {
            throw .system(error)
        }
    }
}
