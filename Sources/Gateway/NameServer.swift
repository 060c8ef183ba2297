/// # The DNS service
///
/// One thread with its own poller serves every device over UDP and TCP. What it answers is planned by values of
/// `Names`; what is here are sockets and who waits for what.
///
///     datagram, stream ─▶ DNSQuery ─▶ plan ─┬─▶ fake, own, negative ─▶ answer at once
///                                           └─▶ cache ─▶ answer at once
///                                                 └────▶ pending ─▶ ResolverClient ─▶ line ─▶ answer all who wait
///
/// A **line** is one socket to one resolver for one exchange: a new one each time, from a random port and
/// connected, so that only that resolver can answer on it. A **stream** is a client's TCP connection. A
/// question that waits is **pending** and knows the way back to its asker: to the address that was asked, for a
/// datagram; into the same stream, in any order; to the worker that asked.

import Addresses
import Bytes
import LinuxIO
import Names
import Wire

struct NameServer: ~Copyable {
    let settings: NameServerSettings
    let directory: NameDirectory
    let desk: NameDesk

    // What it owns
    var poller: Poller
    let ports: [NameServerPort]
    var streams = Slab<ClientStream>()
    var lines = Slab<ResolverLine>()
    var lineOf: [UInt64: Handle] = [:]
    var pending = Slab<PendingQuery>()
    /// Questions that wait, by device.
    var pendingOf: [IPAddress: Int] = [:]
    var lookups = Slab<NameLookup>()
    var reserve = ReserveDescriptor()

    // What it knows
    var rules: AnswerRules
    var cache: AnswerCache
    var resolver: ResolverClient
    var systemResolvers = SystemResolvers()
    var random = SystemRandom()
    var now = Clock.now()
    var counters = NameServerCounters()
    var writer = AnswerWriter()
    /// Where datagrams are read into; taken out while one is worked on.
    var input = [UInt8](repeating: 0, count: NameServer.longestQuery)
    /// Where resolvers' answers are read into, and answers to clients written.
    var scratch = [UInt8](repeating: 0, count: 65_536)
    var output: [UInt8] = []
    var logSink: LogSink
    /// By event: when it may be said again.
    var quietUntil: [String: Instant] = [:]
    /// When streams are looked through for quiet ones.
    var sweepAt = Instant.never
    /// When listeners that were left alone are looked at again.
    var streamsResumeAt = Instant.never
    var isStopping = false

    /// No query is longer; what is longer is dropped.
    static let longestQuery = 4096

    init(_ seed: consuming NameServerSeed) {
        settings = seed.settings
        directory = seed.directory
        desk = seed.desk
        ports = seed.ports
        rules = AnswerRules(seed.settings.answers, isFake: seed.directory.isFake)
        cache = AnswerCache(capacity: seed.settings.cacheSize)
        var asking = ResolverSettings(servers: [])
        asking.order = seed.settings.order
        asking.timeout = seed.settings.timeout
        resolver = ResolverClient(asking)
        logSink = LogSink(isJournal: seed.settings.isJournal)
        poller = seed.poller
        refreshResolvers(isForced: true)
        desk.publish(counters, resolver.servers)
    }

    mutating func run() {
        var events = [PolledEvent](repeating: .none, count: Poller.batch)
        while !isStopping {
            let count = poller.wait(into: &events, until: nextWake())
            now = Clock.now()
            for position in 0..<count { take(events[position]) }
            resolver.timeout(now: now, random: &random)
            carryOut()
            sweepStreams()
            resumeStreams()
            counters.resolver = resolver.counters
            desk.publish(counters, resolver.servers)
            logSink.flush()
        }
        logSink.flush()
    }

    private mutating func nextWake() -> Instant? {
        let deadline = min(resolver.nextDeadline() ?? .never, sweepAt, streamsResumeAt)
        return deadline == .never ? nil : deadline
    }

    private mutating func take(_ event: PolledEvent) {
        switch NameServerToken(rawValue: event.token) {
        case .desk: collectRequests()
        case .datagrams(let index): readDatagrams(index)
        case .connections(let index): acceptStreams(index)
        case .stream(let place, let generation):
            guard let handle = streams.handle(at: place), handle.matches(generation: generation) else { return }
            serveStream(handle, event)
        case .line(let place, let generation):
            guard let handle = lines.handle(at: place), handle.matches(generation: generation) else { return }
            serveLine(handle)
        }
        carryOut()
    }

    /// Adds a line, if its level is wanted.
    mutating func log(_ level: LogLevel, _ event: String, _ fill: (inout LogLine) -> Void) {
        guard level <= settings.logLevel else { return }
        var line = LogLine(level, event: event, journal: settings.isJournal)
        fill(&line)
        line.finish()
        logSink.append(line)
    }

    /// As `log`, once in ten seconds for each event: anybody can make these happen.
    mutating func logSeldom(_ level: LogLevel, _ event: String, _ fill: (inout LogLine) -> Void) {
        guard level <= settings.logLevel, now >= quietUntil[event] ?? now else { return }
        quietUntil[event] = now + .seconds(10)
        log(level, event, fill)
    }
}

/// What a name server is made of before its thread runs: all that can fail has been opened.
struct NameServerSeed: ~Copyable, Sendable {
    let settings: NameServerSettings
    let directory: NameDirectory
    let desk: NameDesk
    let ports: [NameServerPort]
    let poller: Poller

    init(_ settings: NameServerSettings, _ directory: NameDirectory, _ desk: NameDesk) throws(SystemCallError) {
        let poller = try Poller()
        var ports: [NameServerPort] = []
        for address in settings.listen { ports.append(try .open(address, settings.mark)) }
        for (index, port) in ports.enumerated() {
            let datagrams = NameServerToken.datagrams(index).rawValue
            try poller.add(port.datagrams.descriptor.number, token: datagrams, events: .readable)
            let connections = NameServerToken.connections(index).rawValue
            try poller.add(port.connections.descriptor.number, token: connections, events: .readable)
        }
        try poller.add(desk.bell.descriptor.number, token: NameServerToken.desk.rawValue, events: .readable)
        self.settings = settings
        self.directory = directory
        self.desk = desk
        self.ports = ports
        self.poller = poller
    }
}

/// One address that is listened on, over UDP and TCP.
final class NameServerPort: Sendable {
    let address: SocketAddress
    let datagrams: DatagramSocket
    let connections: Socket

    /// Opens both; where any port will do, one that the kernel gives over UDP and that nobody has over TCP.
    static func open(_ asked: SocketAddress, _ mark: UInt32?) throws(SystemCallError) -> NameServerPort {
        for _ in 0..<16 where asked.port == 0 {
            do throws(SystemCallError) {
                return try NameServerPort(asked, mark)
            } catch {
                guard error.errno == .addressInUse else { throw error }
            }
        }
        return try NameServerPort(asked, mark)
    }

    private init(_ asked: SocketAddress, _ mark: UInt32?) throws(SystemCallError) {
        datagrams = try DatagramSocket.bind(to: asked, mark: mark, reportsLocal: true, mayComeLater: true)
        // Bursts of a whole lab that wakes up; the kernel's usual room is for some two hundred queries.
        datagrams.setBuffers(receive: 4 << 20, send: 4 << 20)
        address = datagrams.localAddress ?? asked
        connections = try Socket.listen(on: address, backlog: 256, mark: mark, mayComeLater: true)
    }
}

/// What an event of the service's poller is about.
enum NameServerToken {
    case desk
    case datagrams(Int)
    case connections(Int)
    case stream(index: UInt32, generation: UInt32)
    case line(index: UInt32, generation: UInt32)

    var rawValue: UInt64 {
        switch self {
        case .desk: 0
        case .datagrams(let index): 1 << 56 | UInt64(index)
        case .connections(let index): 2 << 56 | UInt64(index)
        case .stream(let index, let generation): 3 << 56 | UInt64(generation & 0xff_ffff) << 32 | UInt64(index)
        case .line(let index, let generation): 4 << 56 | UInt64(generation & 0xff_ffff) << 32 | UInt64(index)
        }
    }

    init(rawValue: UInt64) {
        let index = UInt32(truncatingIfNeeded: rawValue)
        let generation = UInt32(truncatingIfNeeded: rawValue >> 32) & 0xff_ffff
        switch rawValue >> 56 {
        case 0: self = .desk
        case 1: self = .datagrams(Int(index))
        case 2: self = .connections(Int(index))
        case 3: self = .stream(index: index, generation: generation)
        default: self = .line(index: index, generation: generation)
        }
    }
}
