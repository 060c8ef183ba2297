/// Whose a file is, by name.

internal import Glibc

/// The owner of a file as messages name it.
public enum FileOwner {
    /// The name of the group that a file belongs to, or its number; nil where the file can't be seen.
    public static func group(of path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        // Safe: the entry is copied before the next call could change it; this program has one thread for it.
        guard let entry = unsafe getgrgid(status.st_gid), let name = unsafe entry.pointee.gr_name else {
            return "\(status.st_gid)"
        }
        return unsafe String(cString: name)
    }
}
