/// By what one sees that a file is another one, or was written to.

internal import CLinux
internal import Glibc

public struct FileStamp: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let changed: (seconds: Int, nanoseconds: Int)

    /// Of the file that a path leads to; nil where it leads nowhere.
    public static func of(_ path: String) -> FileStamp? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return FileStamp(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
            changed: (status.st_ctim.tv_sec, status.st_ctim.tv_nsec))
    }

    public static func == (left: FileStamp, right: FileStamp) -> Bool {
        left.device == right.device && left.inode == right.inode && left.size == right.size
            && left.changed == right.changed
    }
}
