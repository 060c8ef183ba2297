/// Waiting for a bell without a poller: for threads that wait for nothing else.

public import Bytes
internal import Glibc

extension WakeUp {
    /// Waits until the bell rings and silences it; returns false when it did not ring in time.
    ///
    /// The time is rounded up to milliseconds; none means for as long as it takes.
    public func wait(atMost time: Interval? = nil) -> Bool {
        var poll = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        let limit = time.map { CInt(clamping: max(0, $0.nanoseconds + 999_999) / 1_000_000) } ?? -1
        guard retrying({ unsafe Int(Glibc.poll(&poll, 1, limit)) }) == 1 else { return false }
        clear()
        return true
    }
}
