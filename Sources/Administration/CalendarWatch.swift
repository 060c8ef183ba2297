/// Notices that the calendar was set: by NTP at last, by hand, by the host of a virtual machine.
///
/// What people asked for "for two hours" shall last two hours, whatever becomes of the calendar meanwhile, and a change
/// on trial shall be taken back after its minute. Ends are kept as seconds since 1970, because they outlive the
/// program, so they are moved along when the calendar jumps. The time since the machine's start, its sleep included,
/// tells a jump from time that has passed.

import Bytes
import LinuxIO

struct CalendarWatch {
    /// Smaller steps are corrections of a clock that is right, and nobody's lease ends by the second.
    static let tolerance: Int64 = 10

    /// The calendar's lead over the time since the start, in nanoseconds, as of the last look.
    private var lead: Int64

    init(_ calendar: UnixTime = Clock.unixTime(), sinceStart: Instant = Clock.sinceBoot()) {
        lead = Self.lead(calendar, sinceStart)
    }

    /// How many seconds the calendar was moved since the last look; nil: it goes as it should.
    mutating func step(_ calendar: UnixTime = Clock.unixTime(), sinceStart: Instant = Clock.sinceBoot()) -> Int64? {
        let now = Self.lead(calendar, sinceStart)
        let step = (Double(now - lead) / 1e9).rounded()
        // Slow corrections add up to nothing that is a jump.
        lead = now
        return abs(step) < Double(Self.tolerance) ? nil : Int64(step)
    }

    private static func lead(_ calendar: UnixTime, _ sinceStart: Instant) -> Int64 {
        calendar.seconds * 1_000_000_000 + Int64(calendar.nanoseconds) - sinceStart.nanoseconds
    }
}
