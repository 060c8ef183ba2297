/// How many threads can run at a time.

internal import CLinux

/// The processors that this process may use.
public enum Processors {
    /// How many there are, by its affinity (sched_setaffinity(2), cpuset(7)); at least 1.
    public static func count() -> Int { max(1, Int(clinux_processors())) }
}
