/// One change at a time, and none beside a program that a dead process has left running.
///
/// A process that is killed leaves the tool behind that it had just started. The tool inherits the lock, so whoever
/// comes next waits until it has done its work.

public import Bytes
internal import CLinux
internal import Glibc
internal import Synchronization

public enum ChangeLock {
    /// The descriptor of the lock that is held, for a companion's tools; -1 without one.
    ///
    /// It is the process's, as the lock is: a tool that this process starts inherits it, a companion's is handed it.
    static let held = Atomic<CInt>(-1)

    /// Does something while nobody else, and no tool of anybody else's, is at it; waits for them, but not for ever.
    ///
    /// The lock is on a directory, which is made if it is missing. Where that is not to be had, there is no lock.
    public static func hold<Result, Failure: Error>(
        _ directory: String, within limit: Interval = .seconds(12), _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        _ = unsafe mkdir(directory, 0o755)
        let number = unsafe clinux_open(directory, O_RDONLY | O_DIRECTORY, 0)
        defer {
            held.store(-1, ordering: .relaxed)
            if number >= 0 { _ = close(number) }
        }
        if number >= 0 {
            _ = fcntl(number, F_SETFD, 0)
            let end = Clock.now() + limit
            while flock(number, LOCK_EX | LOCK_NB) != 0, Clock.now() < end { usleep(2000) }
            held.store(number, ordering: .relaxed)
        }
        return try body()
    }
}
