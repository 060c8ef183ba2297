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

    var counters: NameServerCounters { desk.counters }

    /// The resolvers that are asked now, and whether each is dead.
    var resolvers: [(address: SocketAddress, isDead: Bool)] { desk.resolvers.map { ($0.address, $0.isDead) } }

    /// When a device last asked.
    func lastQuestion(of device: IPAddress) -> Instant? { desk.lastQuestion(of: device) }

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
        var counters = NameServerCounters()
        var resolvers: [ResolverServer] = []
        var isStopped = false
    }

    private static let requestLimit = 4096
    private static let askerLimit = 4096

    private let papers = Mutex(Papers())
    private let askers = Mutex<[IPAddress: Instant]>([:])
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

    func stop() {
        papers.withLock { $0.isStopped = true }
        bell.wake()
    }

    /// Takes the requests out, and says whether it is time to end.
    func collect() -> (requests: [NameRequest], isStopped: Bool) {
        bell.clear()
        return papers.withLock { papers in
            defer { papers.requests = [] }
            return (papers.requests, papers.isStopped)
        }
    }

    /// Remembers when a device has asked; over the limit all is forgotten, and who still asks comes back at once.
    func noteAsker(_ device: IPAddress, at now: Instant) {
        askers.withLock { askers in
            if askers.count >= Self.askerLimit, askers[device] == nil { askers.removeAll(keepingCapacity: true) }
            askers[device] = now
        }
    }

    /// When a device last asked; nil: never, as far as is remembered.
    func lastQuestion(of device: IPAddress) -> Instant? { askers.withLock { $0[device] } }

    func publish(_ counters: NameServerCounters, _ resolvers: [ResolverServer]) {
        papers.withLock { papers in
            papers.counters = counters
            papers.resolvers = resolvers
        }
    }

    var counters: NameServerCounters { papers.withLock { $0.counters } }

    var resolvers: [ResolverServer] { papers.withLock { $0.resolvers } }
}
