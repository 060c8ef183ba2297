/// Replacing small files as a whole.

internal import CLinux
internal import Glibc

extension SmallFile {
    /// Puts these bytes in the file's place: whoever reads it sees the old ones or the new ones, never a mixture.
    ///
    /// The directory is made if it is missing (its parent must be there).
    public static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o644) throws(SystemCallError) {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            _ = unsafe mkdir(String(path[..<slash]), 0o755)
        }
        let draft = "\(path).new"
        let number = unsafe clinux_open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode)
        guard number >= 0 else { throw SystemCallError("open", draft, negative: number) }
        let descriptor = OwnedDescriptor(owning: number)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                return retrying { unsafe write(descriptor.number, rest.baseAddress, rest.count) }
            }
            guard count > 0 else { throw SystemCallError("write", draft, negative: CInt(count)) }
            written += count
        }
        guard fsync(number) == 0 else { throw .last("fsync", draft) }
        guard unsafe rename(draft, path) == 0 else { throw .last("rename", path) }
    }

    /// Removes a file; one that is not there is no error.
    public static func remove(_ path: String) throws(SystemCallError) {
        guard unsafe unlink(path) != 0, ErrorNumber.last != .noSuchFile else { return }
        throw .last("unlink", path)
    }
}
