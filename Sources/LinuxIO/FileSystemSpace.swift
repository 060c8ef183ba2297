/// How much room a file system has left, and whether we may write there.

internal import Glibc

public struct FileSystemSpace: Equatable, Sendable {
    /// What a process without privileges may still write, in octets.
    public var free: Int
    public var total: Int
    /// Files that can still be made; nil where the file system does not count them.
    public var freeFiles: Int?
    public var isReadOnly: Bool

    public init(free: Int, total: Int, freeFiles: Int?, isReadOnly: Bool) {
        self.free = free
        self.total = total
        self.freeFiles = freeFiles
        self.isReadOnly = isReadOnly
    }

    /// The file system that a path is on (statvfs(3)).
    public init(of path: String) throws(SystemCallError) {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { throw .last("statvfs", path) }
        let unit = Int(status.f_frsize)
        free = Int(clamping: status.f_bavail) * unit
        total = Int(clamping: status.f_blocks) * unit
        freeFiles = status.f_files == 0 ? nil : Int(clamping: status.f_favail)
        isReadOnly = status.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Whether this process may make files in a folder (access(2)).
    public static func mayWrite(in folder: String) -> Bool { unsafe access(folder, W_OK | X_OK) == 0 }
}
