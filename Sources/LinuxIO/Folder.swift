/// A directory of ours and the files in it: what has to survive this process, and the machine's power.

internal import CLinux
internal import Glibc

/// An open directory; its files are named without a path.
public struct Folder: ~Copyable, Sendable {
    public let path: String
    private let descriptor: OwnedDescriptor

    /// Opens a directory, and makes it, for its owner alone, where only the last part of the path is missing.
    public init(_ path: String) throws(SystemCallError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw .last("mkdir", path) }
        let number = unsafe clinux_open(path, O_RDONLY | O_DIRECTORY, 0)
        guard number >= 0 else { throw SystemCallError("open", path, negative: number) }
        self.path = path
        descriptor = OwnedDescriptor(owning: number)
    }

    /// Makes a directory that everybody may look into, where only the last part of the path is missing.
    public static func make(_ path: String) throws(SystemCallError) {
        if unsafe mkdir(path, 0o755) != 0, errno != EEXIST { throw .last("mkdir", path) }
    }

    /// Takes the directory for this value until it goes away, or returns false when another process has it.
    public func claim() throws(SystemCallError) -> Bool {
        let result = retrying { Int(flock(descriptor.number, LOCK_EX | LOCK_NB)) }
        if result == 0 { return true }
        guard result == -Int(EWOULDBLOCK) else { throw SystemCallError("flock", path, negative: CInt(result)) }
        return false
    }

    /// Reads a file of at most `limit` bytes; nil when there is none.
    public func read(_ name: String, limit: Int) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try SmallFile.read("\(path)/\(name)", limit: limit)
        } catch .system(let error) where error.errno == .noSuchFile {
            return nil
        }
    }

    /// Makes a new file, for its owner alone, in place of whatever has the name; a symbolic link is never followed.
    public func create(_ name: String) throws(SystemCallError) -> FileWriter {
        if unsafe unlinkat(descriptor.number, name, 0) != 0, errno != ENOENT {
            throw .last("unlink", "\(path)/\(name)")
        }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let number = unsafe openat(descriptor.number, name, flags, 0o600)
        guard number >= 0 else { throw .last("open", "\(path)/\(name)") }
        return FileWriter(descriptor: OwnedDescriptor(owning: number), path: "\(path)/\(name)")
    }

    /// Gives a file another name, in place of whatever had that.
    public func rename(_ name: String, to other: String) throws(SystemCallError) {
        guard unsafe renameat(descriptor.number, name, descriptor.number, other) == 0 else {
            throw .last("rename", "\(path)/\(name)")
        }
    }

    /// Removes a file if it is there.
    public func remove(_ name: String) throws(SystemCallError) {
        guard unsafe unlinkat(descriptor.number, name, 0) == 0 || errno == ENOENT else {
            throw .last("unlink", "\(path)/\(name)")
        }
    }

    /// The names of everything in the directory, sorted.
    public func names() throws(SystemCallError) -> [String] {
        // A descriptor of its own: reading moves the place in the directory.
        let number = unsafe openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard number >= 0 else { throw .last("open", path) }
        guard let stream = unsafe fdopendir(number) else {
            let error = SystemCallError.last("fdopendir", path)
            _ = close(number)
            throw error
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            // At the end errno stays as it was.
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw .last("readdir", path) }
        return names.sorted()
    }

    /// Waits until the disk has the names; their files' contents are the files' own matter.
    public func sync() throws(SystemCallError) {
        let result = retrying { Int(fsync(descriptor.number)) }
        guard result == 0 else { throw SystemCallError("fsync", path, negative: CInt(result)) }
    }
}

/// A file that is written from its beginning on.
public struct FileWriter: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor
    private let path: String

    init(descriptor: consuming OwnedDescriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Hands all bytes to the kernel: from then on the end of this process loses none of them.
    ///
    /// After an error a part of them may be in the file.
    public func write(_ bytes: Span<UInt8>) throws(SystemCallError) {
        var written = 0
        while written < bytes.count {
            let rest = bytes.extracting(written..<bytes.count)
            let count = unsafe rest.withUnsafeBufferPointer { rest in
                retrying { unsafe Glibc.write(descriptor.number, rest.baseAddress, rest.count) }
            }
            guard count >= 0 else { throw SystemCallError("write", path, negative: CInt(count)) }
            written += count
        }
    }

    /// Waits until the disk has what was written: from then on the end of power loses none of it.
    public func sync() throws(SystemCallError) {
        let result = retrying { Int(fdatasync(descriptor.number)) }
        guard result == 0 else { throw SystemCallError("fdatasync", path, negative: CInt(result)) }
    }
}
