/// The DNS service as the rest of the gateway holds it: it is started, asked by workers, and stopped.

import Addresses
import Bytes
import LinuxIO
import Names
import Synchronization

/// A question of the gateway itself: the addresses of a name, through the same cache and resolvers.
struct NameRequest: Sendable {
    var name: String
    /// What the asker gave, to find its own again.
    var ticket: UInt64
    /// Called on the service's thread; it only puts the answer where the asker finds it.
    var reply: @Sendable (Resolution) -> Void
}

/// A running DNS service.
final class NameService: Sendable {
    /// Where it listens, with the ports that the kernel chose where 0 was asked for.
    let addresses: [SocketAddress]
    private let desk: NameDesk
    private let thread: WorkerThreadBox

    /// Opens the listeners and starts the thread.
    init(_ settings: NameServerSettings, _ directory: NameDirectory) throws(SystemCallError) {
        let desk = try NameDesk()
        let seed = try NameServerSeed(settings, directory, desk)
        addresses = seed.ports.map(\.address)
        self.desk = desk
        thread = WorkerThreadBox(
            try WorkerThread.start(name: "names", owning: seed) { seed in
                var server = NameServer(seed)
                server.run()
            })
    }

    /// Asks for the addresses of a name, or returns false when too many questions wait already.
    func resolve(_ request: NameRequest) -> Bool { desk.add(request) }

    /// Has the service's thread prove that its loop turns.
    func prove(_ round: ProofRound) { desk.prove(round) }

    var counters: NameServerCounters { desk.counters }

    /// The resolvers that are asked now, and whether each is dead.
    var resolvers: [(address: SocketAddress, isDead: Bool)] { desk.resolvers.map { ($0.address, $0.isDead) } }

    /// When a device last asked.
    func lastQuestion(of device: IPAddress) -> Instant? { desk.lastQuestion(of: device) }

    /// What a device has asked for, of what no flow tells.
    func requests(of devices: Set<IPAddress>) -> [DeviceRequest] { desk.requests(of: devices) }

    /// Has the names that a device asks for be collected until then.
    func learn(_ devices: Set<IPAddress>, until: Instant) { desk.learn(devices, until: until) }

    func lessons(of devices: Set<IPAddress>) -> [Lesson] { desk.lessons(of: devices) }

    func forget(_ devices: Set<IPAddress>) { desk.forget(devices) }

    /// Who has asked for a self-check's name.
    func checkNotes(of nonce: String, at now: Instant) -> [CheckNote] { desk.checkNotes(of: nonce, at: now) }

    /// Ends the thread; who waits for an address is not answered any more.
    func stop() {
        desk.stop()
        thread.join()
    }
}

/// What the service's thread and the others share.
final class NameDesk: Sendable {
    private struct Papers {
        var requests: [NameRequest] = []
        var rounds: [ProofRound] = []
        var counters = NameServerCounters()
        var resolvers: [ResolverServer] = []
        var isStopped = false
    }

    /// What is remembered of devices that ask.
    private struct Askers {
        var last: [IPAddress: Instant] = [:]
        var book = RequestBook()
        var checks = CheckBook()
    }

    private static let requestLimit = 4096
    private static let askerLimit = 4096

    private let papers = Mutex(Papers())
    private let askers = Mutex(Askers())
    let bell: WakeUp

    init() throws(SystemCallError) { bell = try WakeUp() }

    func add(_ request: NameRequest) -> Bool {
        let isTaken = papers.withLock { papers in
            guard papers.requests.count < Self.requestLimit, !papers.isStopped else { return false }
            papers.requests.append(request)
            return true
        }
        if isTaken { bell.wake() }
        return isTaken
    }

    func prove(_ round: ProofRound) {
        papers.withLock { $0.rounds.append(round) }
        bell.wake()
    }

    func stop() {
        papers.withLock { $0.isStopped = true }
        bell.wake()
    }

    /// Takes the requests out, and says whether it is time to end; by the way its caller proves that it is at work.
    func collect() -> (requests: [NameRequest], isStopped: Bool) {
        bell.clear()
        let (requests, rounds, isStopped) = papers.withLock { papers in
            defer { (papers.requests, papers.rounds) = ([], []) }
            return (papers.requests, papers.rounds, papers.isStopped)
        }
        for round in rounds { round.prove() }
        return (requests, isStopped)
    }

    /// Remembers when a device has asked, and for what; over the limit all is forgotten, and who still asks comes back
    /// at once.
    ///
    /// `name` is one whose address was wanted.
    func noteQuestion(of device: IPAddress, about name: String?, _ plan: AnswerPlan, at now: Instant) {
        askers.withLock { askers in
            if askers.last.count >= Self.askerLimit, askers.last[device] == nil {
                askers.last.removeAll(keepingCapacity: true)
            }
            askers.last[device] = now
            if let name { askers.book.note(name, plan, of: device, at: now) }
        }
    }

    /// When a device last asked; nil: never, as far as is remembered.
    func lastQuestion(of device: IPAddress) -> Instant? { askers.withLock { $0.last[device] } }

    func requests(of devices: Set<IPAddress>) -> [DeviceRequest] {
        askers.withLock { $0.book.requests(of: devices) }
    }

    func learn(_ devices: Set<IPAddress>, until: Instant) {
        askers.withLock { askers in
            for device in devices { askers.book.learn(device, until: until) }
        }
    }

    func lessons(of devices: Set<IPAddress>) -> [Lesson] { askers.withLock { $0.book.lessons(of: devices) } }

    func forget(_ devices: Set<IPAddress>) { askers.withLock { $0.book.forget(devices) } }

    func noteCheck(_ nonce: String, _ event: CheckNote.Event, by device: IPAddress, at now: Instant) {
        askers.withLock { $0.checks.note(nonce, event, by: device, at: now) }
    }

    func checkNotes(of nonce: String, at now: Instant) -> [CheckNote] {
        askers.withLock { $0.checks.notes(of: nonce, at: now) }
    }

    func publish(_ counters: NameServerCounters, _ resolvers: [ResolverServer]) {
        papers.withLock { papers in
            papers.counters = counters
            papers.resolvers = resolvers
        }
    }

    var counters: NameServerCounters { papers.withLock { $0.counters } }

    var resolvers: [ResolverServer] { papers.withLock { $0.resolvers } }
}

extension RequestBook {
    /// Notes a question by how it is answered: what gets a fake address is told of by the flow that follows.
    fileprivate mutating func note(_ name: String, _ plan: AnswerPlan, of device: IPAddress, at now: Instant) {
        switch plan {
        case .forward:
            note(DeviceRequest(.name(name), .asked, at: now), of: device)
            take(name, of: device, at: now)
        case .fake: take(name, of: device, at: now)
        case .nonexistent, .refused:
            var request = DeviceRequest(.name(name), .refused, at: now)
            request.hasFailed = true
            request.outcome = plan == .refused ? "the DNS service refuses the name" : "the name does not exist here"
            note(request, of: device)
        case .addresses, .pointer, .empty: break
        }
    }
}
