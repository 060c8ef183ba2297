/// Open files: one owner each, and the loop that every interrupted call needs.

internal import Glibc

/// The one owner of an open file descriptor, closed when the value goes away.
public struct OwnedDescriptor: ~Copyable, Sendable {
    public let number: CInt

    public init(owning number: CInt) { self.number = number }

    deinit { _ = close(number) }

    /// Gives the descriptor up to the caller, who closes it.
    consuming func release() -> CInt {
        let number = number
        discard self
        return number
    }

    /// Opens a second descriptor on the same open file.
    public func duplicate() throws(SystemCallError) -> OwnedDescriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .last("fcntl F_DUPFD_CLOEXEC") }
        return OwnedDescriptor(owning: copy)
    }
}

/// Calls again for as long as a signal interrupts (EINTR), and returns the result or the negative errno.
@inline(__always)
func retrying(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        let reason = errno
        if reason != EINTR { return -Int(reason) }
    }
}
