/// Threads of our own: a name, a body, and the state that it owns.

public import Bytes
internal import CLinux
internal import Glibc

/// A running thread.
///
/// One that is not joined before the value goes away runs on by itself.
public struct WorkerThread: ~Copyable, Sendable {
    private let identity: pthread_t
    private var isJoined = false

    deinit {
        if !isJoined { _ = pthread_detach(identity) }
    }

    /// Starts a thread that runs `body`; the name is cut to 15 bytes.
    public static func start(
        name: String, stackSize: Int = 512 * 1024, _ body: @escaping @Sendable () -> Void
    ) throws(SystemCallError) -> WorkerThread {
        WorkerThread(identity: try launch(name, stackSize, isDetached: false, body))
    }

    /// Starts a thread that owns `state`, which may be noncopyable, and runs `body` on it.
    public static func start<State: ~Copyable & Sendable>(
        name: String, owning state: consuming State, stackSize: Int = 512 * 1024,
        _ body: @escaping @Sendable (consuming State) -> Void
    ) throws(SystemCallError) -> WorkerThread {
        let parcel = Parcel(state)
        return try start(name: name, stackSize: stackSize) { body(parcel.open()) }
    }

    /// Starts a thread that nobody waits for.
    public static func startDetached(
        name: String, stackSize: Int = 512 * 1024, _ body: @escaping @Sendable () -> Void
    ) throws(SystemCallError) {
        _ = try launch(name, stackSize, isDetached: true, body)
    }

    /// As `startDetached`, with a state that the thread owns.
    static func startDetached<State: ~Copyable & Sendable>(
        name: String, owning state: consuming State, _ body: @escaping @Sendable (consuming State) -> Void
    ) throws(SystemCallError) {
        let parcel = Parcel(state)
        try startDetached(name: name) { body(parcel.open()) }
    }

    /// Waits until the thread has ended.
    public consuming func join() {
        isJoined = true
        let result = pthread_join(identity, nil)
        precondition(result == 0, "a thread joined itself")
    }

    /// Has the calling thread do nothing for a while.
    public static func sleep(_ time: Interval) {
        let end = Clock.now() + time
        while true {
            let left = end - Clock.now()
            guard left > .zero else { return }
            usleep(useconds_t(clamping: min(left, .milliseconds(900)).microseconds))
        }
    }

    /// Lets the kernel wake the calling thread at most so much later than asked, instead of 50 µs.
    public static func setTimerSlack(nanoseconds: Int) {
        clinux_set_timer_slack(UInt(clamping: nanoseconds))
    }

    private static func launch(
        _ name: String, _ stackSize: Int, isDetached: Bool, _ body: @escaping @Sendable () -> Void
    ) throws(SystemCallError) -> pthread_t {
        // The new thread takes the reference over, whether or not this function still runs by then.
        let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, body: body)).toOpaque()
        var identity = pthread_t()
        let result = unsafe clinux_start_thread(
            stackSize, isDetached ? 1 : 0, { unsafe ThreadStart.run($0) }, start, &identity)
        if result < 0 {
            unsafe Unmanaged<ThreadStart>.fromOpaque(start).release()
            throw SystemCallError("pthread_create", name, negative: result)
        }
        return identity
    }
}

/// What a new thread is given.
private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    /// The thread's life; `context` is the one retained reference that `launch` passes.
    static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context = unsafe context else { return nil }
        let start = unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
        unsafe clinux_name_thread(start.name)
        start.body()
        return nil
    }
}

/// Carries an owned value through a closure, which cannot capture one to give it away.
///
/// Sendable although the compiler can't see it: it is written once before the thread starts, and emptied once by it.
@safe private final class Parcel<Content: ~Copyable & Sendable>: @unchecked Sendable {
    private var content: Content?

    init(_ content: consuming Content) { self.content = consume content }

    func open() -> Content {
        guard let content = content.take() else { preconditionFailure("a parcel opened twice") }
        return content
    }
}
