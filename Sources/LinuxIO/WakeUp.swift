/// How one thread gets another one out of its poller.

internal import CLinux
internal import Glibc

/// A bell on an eventfd: any thread rings, the owner's poller sees it readable.
///
/// Truly shared between threads, hence a class.
public final class WakeUp: Sendable {
    public let descriptor: OwnedDescriptor

    public init() throws(SystemCallError) {
        let number = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
        guard number >= 0 else { throw .last("eventfd") }
        descriptor = OwnedDescriptor(owning: number)
    }

    /// Rings; several rings before the owner looks are one.
    public func wake() {
        var one: UInt64 = 1
        // EAGAIN means that the bell has rung 2^64 - 2 times unheard: it is readable, which is all that matters.
        _ = retrying { unsafe write(descriptor.number, &one, 8) }
    }

    /// Silences the bell; called by the owner before it looks at what the others left for it.
    public func clear() {
        var count: UInt64 = 0
        _ = retrying { unsafe read(descriptor.number, &count, 8) }
    }
}
