/// Which descriptors are ready (epoll).

public import Bytes
internal import CLinux
internal import Glibc

/// What to wait for on a descriptor.
///
/// Errors and a full hang-up are always reported.
public struct Interest: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let readable = Interest(rawValue: EPOLLIN.rawValue)
    public static let writable = Interest(rawValue: EPOLLOUT.rawValue)
    /// What becomes known of a stream without writing to it.
    public static let reading: Interest = [.readable, .peerFinished]
    public static let everything: Interest = [.readable, .writable, .peerFinished]
    /// The peer has shut its sending side down (EPOLLRDHUP), seen even where nothing is read.
    public static let peerFinished = Interest(rawValue: EPOLLRDHUP.rawValue)
}

/// One descriptor that is ready.
public struct PolledEvent: Sendable {
    public fileprivate(set) var token: UInt64
    fileprivate var bits: UInt32

    /// An entry to be overwritten by `Poller.wait`.
    public static let none = PolledEvent(token: 0, bits: 0)

    public var readable: Bool { bits & EPOLLIN.rawValue != 0 }
    public var writable: Bool { bits & EPOLLOUT.rawValue != 0 }

    /// The peer sends nothing more (EPOLLRDHUP), or both directions are closed (EPOLLHUP).
    public var hungUp: Bool { bits & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue) != 0 }

    /// An error waits on the descriptor, or the device behind it is gone.
    public var error: Bool { bits & EPOLLERR.rawValue != 0 }
}

/// A set of watched descriptors, each with a token of the owner's choice.
///
/// A descriptor leaves the set by itself when it is closed. Sendable although the compiler can't see it: the buffer is
/// written by `wait` alone, which its one owner calls.
@safe public struct Poller: ~Copyable, @unchecked Sendable {
    /// The most events that one `wait` returns.
    public static let batch = 256

    public let descriptor: OwnedDescriptor

    /// The kernel's form of the events, allocated once.
    private let buffer: UnsafeMutablePointer<epoll_event>

    /// Whether the kernel has epoll_pwait2 (5.11).
    private var isPrecise = true

    public init() throws(SystemCallError) {
        let number = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard number >= 0 else { throw .last("epoll_create1") }
        descriptor = OwnedDescriptor(owning: number)
        unsafe buffer = .allocate(capacity: Self.batch)
    }

    deinit { unsafe buffer.deallocate() }

    /// Watches a descriptor; with `edge` an event is reported once, when the state changes.
    public func add(_ number: CInt, token: UInt64, events: Interest, edge: Bool = false) throws(SystemCallError) {
        try control(EPOLL_CTL_ADD, number, token, events, edge, name: "epoll_ctl ADD")
    }

    /// Watches a descriptor that other pollers watch too: one of them is woken, not all (EPOLLEXCLUSIVE).
    ///
    /// It cannot be modified; remove it and add it again.
    public func addShared(_ number: CInt, token: UInt64, events: Interest) throws(SystemCallError) {
        let events = Interest(rawValue: events.rawValue | EPOLLEXCLUSIVE.rawValue)
        try control(EPOLL_CTL_ADD, number, token, events, false, name: "epoll_ctl ADD")
    }

    /// Changes what is waited for, or the token.
    public func modify(_ number: CInt, token: UInt64, events: Interest, edge: Bool = false) throws(SystemCallError) {
        try control(EPOLL_CTL_MOD, number, token, events, edge, name: "epoll_ctl MOD")
    }

    /// Forgets a descriptor; one that is not watched is passed over.
    public func remove(_ number: CInt) {
        var event = unsafe epoll_event()
        _ = unsafe epoll_ctl(descriptor.number, EPOLL_CTL_DEL, number, &event)
    }

    /// Waits until something is ready or the deadline has passed, and fills `events` from its start.
    ///
    /// Returns how many there are: at most `events.count` and `batch`, 0 when the time is over. A deadline in
    /// the past asks without waiting, nil waits for ever. Nothing is allocated.
    public mutating func wait(into events: inout [PolledEvent], until deadline: Instant?) -> Int {
        let capacity = CInt(min(events.count, Self.batch))
        precondition(capacity > 0, "no room for events")
        while true {
            let result = waitOnce(capacity, deadline)
            if result == -EINTR { continue }
            precondition(result >= 0, "epoll_wait was called wrongly")
            for index in 0..<Int(result) {
                // Safe: the kernel has filled `result` events.
                let event = unsafe buffer[index]
                events[index] = unsafe PolledEvent(token: event.data.u64, bits: event.events)
            }
            return Int(result)
        }
    }

    private mutating func waitOnce(_ capacity: CInt, _ deadline: Instant?) -> CInt {
        var left: Int64 = -1
        if let deadline, deadline != .never { left = max(0, (deadline - Clock.now()).nanoseconds) }
        if isPrecise {
            let result = unsafe clinux_epoll_wait_precisely(
                descriptor.number, buffer, capacity, left < 0 ? -1 : left / 1_000_000_000, max(0, left) % 1_000_000_000)
            // A sandbox's filter may also answer EPERM to a call that it does not know.
            if result != -ENOSYS && result != -EPERM { return result }
            isPrecise = false
        }
        let result = unsafe epoll_wait(descriptor.number, buffer, capacity, Self.milliseconds(left))
        return result < 0 ? -errno : result
    }

    /// Whole milliseconds for epoll_wait, rounded up so that it never wakes before the deadline.
    static func milliseconds(_ nanoseconds: Int64) -> CInt {
        if nanoseconds < 0 { return -1 }
        return CInt(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
    }

    private func control(
        _ operation: CInt, _ number: CInt, _ token: UInt64, _ events: Interest, _ edge: Bool, name: String
    ) throws(SystemCallError) {
        var event = unsafe epoll_event()
        unsafe event.events = events.rawValue | (edge ? EPOLLET.rawValue : 0)
        unsafe event.data.u64 = token
        guard unsafe epoll_ctl(descriptor.number, operation, number, &event) == 0 else { throw .last(name) }
    }
}
