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

    /// Whether a descriptor with this number leaves some for what must go on when flows have taken all others: the
    /// control socket, DNS, probes, and files of the store.
    ///
    /// The kernel gives the lowest free number, so a high one says that the others are taken.
    public static func leavesReserve(_ number: CInt) -> Bool {
        let limit = current().soft
        return Int(number) < limit - min(reserve, limit / 8)
    }

    /// How many flows leave to the rest, where the limit is not a small one.
    public static let reserve = 64

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
