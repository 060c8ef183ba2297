/// How many descriptors the process may have open.

internal import Glibc

/// The process's limit of open files (RLIMIT_NOFILE).
public enum DescriptorLimit {
    /// The limit that holds now, and the one up to which the process may raise it.
    public static func current() -> (soft: Int, hard: Int) {
        var limit = rlimit()
        // The call fails for bad arguments alone.
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
    }

    /// Raises the limit as far as the process may, and returns the limit that holds then.
    public static func raise() -> Int {
        let (soft, hard) = current()
        return set(soft: hard) ? hard : soft
    }

    /// Sets the limit that holds; false where it lies above the hard one.
    public static func set(soft: Int) -> Bool {
        var limit = rlimit(rlim_cur: rlim_t(soft), rlim_max: rlim_t(current().hard))
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    }
}
