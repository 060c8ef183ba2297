/// The two clocks: a monotonic one for everything that waits, and the calendar for logs and captures.

public import Bytes
internal import CLinux
internal import Glibc

/// Where time is read.
///
/// A loop reads it once a turn and passes it down.
public enum Clock {
    /// The monotonic clock (CLOCK_MONOTONIC); it stands still while the machine sleeps.
    public static func now() -> Instant {
        let time = read(CLOCK_MONOTONIC)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The time since the machine's start, its sleep included (CLOCK_BOOTTIME); nobody can set it.
    public static func sinceBoot() -> Instant {
        let time = read(CLOCK_BOOTTIME)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The calendar (CLOCK_REALTIME); it may jump.
    public static func unixTime() -> UnixTime {
        let time = read(CLOCK_REALTIME)
        return UnixTime(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
    }

    /// Whether the kernel calls the calendar right: somebody disciplines it (adjtimex(2), STA_UNSYNC).
    public static var isSynchronised: Bool { clinux_clock_is_synchronised() == 1 }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // These clocks exist on every Linux, so the call cannot fail.
        _ = unsafe clock_gettime(clock, &time)
        return time
    }
}
