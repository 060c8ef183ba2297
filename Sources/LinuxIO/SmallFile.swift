/// Reading files that are small by nature: configurations and secrets.

internal import CLinux
internal import Glibc

/// Why a file was not read.
public enum FileError: Error, Equatable, Sendable, CustomStringConvertible {
    case system(SystemCallError)
    /// A directory, a device or a pipe.
    case notRegular(path: String)
    case tooLarge(path: String, limit: Int)
    /// A secret that others may read.
    case readableByOthers(path: String, mode: UInt32)

    public var description: String {
        switch self {
        case .system(let error): "\(error)"
        case .notRegular(let path): "\(path): not a regular file"
        case .tooLarge(let path, let limit): "\(path): larger than \(limit) bytes"
        case .readableByOthers(let path, let mode):
            "\(path): others may read this secret (mode 0\(String(mode, radix: 8))); chmod 600 it"
        }
    }
}

/// A whole file, read at once.
public enum SmallFile {
    /// Reads a regular file of at most `limit` bytes.
    public static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        try read(path, limit: limit, isSecret: false)
    }

    /// Whether there is anything at a path.
    public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// As `read`, and refuses a file that its group or everybody may read, write or run.
    public static func readSecret(_ path: String, limit: Int = 65_536) throws(FileError) -> [UInt8] {
        try read(path, limit: limit, isSecret: true)
    }

    private static func read(_ path: String, limit: Int, isSecret: Bool) throws(FileError) -> [UInt8] {
        // Without O_NONBLOCK opening a pipe would wait for its writer.
        let number = unsafe clinux_open(path, O_RDONLY | O_NONBLOCK, 0)
        guard number >= 0 else { throw .system(SystemCallError("open", path, negative: number)) }
        let descriptor = OwnedDescriptor(owning: number)
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw .system(.last("fstat", path)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
        guard !isSecret || status.st_mode & 0o077 == 0 else {
            throw .readableByOthers(path: path, mode: UInt32(status.st_mode & 0o777))
        }
        return try readAll(descriptor, path, limit)
    }

    /// The file may grow while it is read (and files of /proc say that they are empty), so its end counts.
    private static func readAll(
        _ descriptor: borrowing OwnedDescriptor, _ path: String, _ limit: Int
    ) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let room = min(16_384, limit + 1 - bytes.count)
            var count = 0
            bytes.append(addingCapacity: room) { output in
                unsafe output.withUnsafeMutableBufferPointer { space, filled in
                    count = retrying { unsafe Glibc.read(descriptor.number, space.baseAddress, room) }
                    filled = max(0, count)
                }
            }
            guard count >= 0 else { throw .system(SystemCallError("read", path, negative: CInt(count))) }
            if count == 0 { return bytes }
            guard bytes.count <= limit else { throw .tooLarge(path: path, limit: limit) }
        }
    }
}
