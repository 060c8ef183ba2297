/// Files that must not be there yet.

internal import CLinux
internal import Glibc

extension SmallFile {
    /// Makes a new file with these bytes, and never touches one that is there (EEXIST).
    ///
    /// It has its mode before it has its first octet; when the bytes don't fit on the disk, it is removed again.
    public static func create(_ path: String, with bytes: [UInt8], mode: UInt32) throws(SystemCallError) {
        let number = unsafe clinux_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
        guard number >= 0 else { throw SystemCallError("open", path, negative: number) }
        let descriptor = OwnedDescriptor(owning: number)
        let count = unsafe bytes.withUnsafeBytes { bytes in
            retrying { unsafe write(descriptor.number, bytes.baseAddress, bytes.count) }
        }
        guard count == bytes.count, fsync(descriptor.number) == 0 else {
            let reason = count < 0 ? CInt(count) : -ENOSPC
            _ = unsafe unlink(path)
            throw SystemCallError("write", path, negative: reason)
        }
    }

    /// The path from the root on, without links; the path itself where it leads nowhere.
    public static func wholePath(_ path: String) -> String {
        guard let whole = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(whole) }
        return unsafe String(cString: whole)
    }
}
