/// Probes beside each other, on a thread of their own, so that one that hangs delays none of the others.

import Bytes
public import LinuxIO
internal import Synchronization

/// Asks for the addresses of a target by name and hands the answer over; false when too many questions wait.
///
/// The gateway's own name service answers here, which never gives the gateway a fake address.
public typealias TargetResolver =
    @Sendable (_ name: String, _ ticket: UInt64, _ reply: @escaping @Sendable (Resolution) -> Void) -> Bool

/// Takes requests, and rings when there are results.
public final class Prober: Sendable {
    /// Probes that run at a time; more wait for their turn, which comes within a timeout.
    public static let limit = 16

    private let desk: ProbeDesk

    /// Starts the thread; without a resolver of their own targets are asked of the system's.
    public init(resolvingTargets resolver: TargetResolver? = nil) throws(SystemCallError) {
        let desk = try ProbeDesk()
        let poller = try Poller()
        try poller.add(desk.requestBell.descriptor.number, token: ProbeLoop.bellToken, events: .readable)
        _ = try WorkerThread.start(name: "prober", owning: poller) { poller in
            var loop = ProbeLoop(poller, desk, resolver)
            loop.run()
        }
        self.desk = desk
    }

    deinit { desk.stop() }

    /// Rung when there are results.
    public var bell: WakeUp { desk.resultBell }

    /// Begins a probe, whose result carries the ticket; false when too many wait already.
    public func begin(_ request: ProbeRequest, ticket: UInt64) -> Bool { desk.add(request, ticket) }

    /// Ends the probe of a ticket without a result; one that has ended already is passed over.
    public func cancel(_ ticket: UInt64) { desk.cancel(ticket) }

    /// The results since the last call, in the order in which they came.
    public func takeAll() -> [ProbeResult] { desk.takeResults() }

    /// Ends the thread and every probe; there are no results any more.
    public func stop() { desk.stop() }
}

/// What the prober's thread and the others share.
final class ProbeDesk: Sendable {
    /// What has come for the thread since it looked last.
    struct Mail {
        var requests: [(request: ProbeRequest, ticket: UInt64)] = []
        var cancelled: [UInt64] = []
        var resolutions: [Resolution] = []
        var isStopped = false
    }

    /// Requests that may wait for their turn, and results for their reader.
    private static let capacity = 1024

    private let mail = Mutex(Mail())
    private let results = Mutex<[ProbeResult]>([])
    /// How many were taken in and have not come out again.
    private let open = Atomic(0)
    let requestBell: WakeUp
    let resultBell: WakeUp

    init() throws(SystemCallError) {
        requestBell = try WakeUp()
        resultBell = try WakeUp()
    }

    func add(_ request: ProbeRequest, _ ticket: UInt64) -> Bool {
        guard open.load(ordering: .relaxed) < Self.capacity else { return false }
        open.wrappingAdd(1, ordering: .relaxed)
        put { $0.requests.append((request, ticket)) }
        return true
    }

    func cancel(_ ticket: UInt64) { put { $0.cancelled.append(ticket) } }

    func answer(_ resolution: Resolution) { put { $0.resolutions.append(resolution) } }

    func stop() { put { $0.isStopped = true } }

    private func put(_ change: (inout Mail) -> Void) {
        mail.withLock { change(&$0) }
        requestBell.wake()
    }

    /// What the thread finds; called by it alone.
    func collect() -> Mail {
        requestBell.clear()
        return mail.withLock { mail in
            let found = mail
            mail = Mail()
            mail.isStopped = found.isStopped
            return found
        }
    }

    /// Hands a result over.
    func put(_ result: ProbeResult) {
        results.withLock { $0.append(result) }
        resultBell.wake()
    }

    /// Takes note of a probe that ends without a result.
    func drop() { open.wrappingSubtract(1, ordering: .relaxed) }

    func takeResults() -> [ProbeResult] {
        resultBell.clear()
        let taken = results.withLock { results in
            defer { results = [] }
            return results
        }
        open.wrappingSubtract(taken.count, ordering: .relaxed)
        return taken
    }
}
