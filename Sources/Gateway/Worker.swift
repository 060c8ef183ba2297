/// # A worker
///
/// A worker is a thread that owns its flows whole: a queue of the TUN device, a poller, a flow table, timers, a
/// buffer pool, its upstream sockets. Nothing of it is shared, so nothing is locked and no reference is counted
/// on a packet's way.
///
///     wait ─▶ events ─▶ packets ─▶ timers ─▶ serve touched flows ─▶ write the log ─▶ wait
///
/// Everything that arrives only changes state and touches its flow; `serve` then does what follows, once a
/// flow and turn. `DataPath` has the three ways, the other extensions one concern each.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Upstreams
import Wire

struct Worker: ~Copyable {
    let index: Int
    let shared: Shared

    // What it owns
    var poller: Poller
    var output: TunnelOutput?
    var packet = PacketBuffer()
    var flows = Slab<Flow>()
    var dials = Slab<Dial>()
    var sessions = Slab<InboundSession>()
    var forwards = Slab<HTTPForward>()
    var sniffs = Slab<Sniff>()
    var checks = Slab<Check>()
    var table: FlowTable
    var timers: TimerWheel
    var pool: BufferPool
    var halfOpen: HalfOpen
    var shares: FlowShares
    var lingering: TimeWaitTable<TimeWaitRecord>
    var fragments: Fragments
    var icmpLimits: RateLimiter
    /// What was learned about upstreams, by their number.
    var memories: [Int: UpstreamMemory] = [:]
    var datagrams: DatagramFlows
    var dialBuffers = DialBuffers()
    var reserve = ReserveDescriptor()
    let resolver: NameResolver
    /// The dials that wait for a name, which is asked for once.
    var asked: [String: [Handle]] = [:]
    let initialSequences: InitialSequence
    let cookies: SYNCookies

    // What it knows
    var now = Clock.now()
    var counters = Counters()
    var tally = FlowTally()
    var activities = DeviceActivities()
    var requests = RequestBook()
    var seenChecks = CheckBook()
    var logSink: LogSink
    /// By the event's name.
    var bursts: [String: Burst] = [:]
    /// When what is left of a burst is written.
    var burstsDueAt = Instant.never
    /// This worker's share of the flows.
    let flowLimit: Int
    /// When a warning of a bound may be written again.
    var boundWarnings: [Bound: Instant] = [:]

    /// Until when a cookie of ours may come back.
    var cookiesEndAt = Instant(nanoseconds: 0)

    // What is to be done
    var touched: [Handle] = []
    /// How much may still be read of sockets in this turn.
    var turnLeft = 0
    /// Flows that could go on but for buffer memory, in the order in which they get some.
    var starved: [Handle] = []
    var tunnelHasMore = false
    var hasSaidAbsoluteForm = false
    var isStopping = false
    var rerouting = Rerouting()
    /// When listeners that were left alone are looked at again.
    var listenersResumeAt = Instant.never
    /// The most chunks that were in use at the end of a turn, since memory was last looked at.
    var busiest = 0
    /// When memory that nobody needs is given back.
    var tidyAt = Instant.never
    /// Whether something was carried since all that a load needs was given back, and when that was.
    var hasWorked = false
    var restedAt: Instant

    init(_ seed: consuming WorkerSeed) {
        let settings = seed.shared.settings
        let workers = seed.shared.mailboxes.count
        var random = SystemRandom()
        index = seed.index
        logSink = LogSink(isJournal: settings.isJournal)
        shared = seed.shared
        resolver = seed.resolver
        flowLimit = max(1, settings.flows / workers)
        table = FlowTable(capacity: flowLimit, seed: random.key())
        timers = TimerWheel(now: Clock.now())
        restedAt = Clock.now()
        pool = BufferPool(budget: settings.bufferMemory / workers)
        halfOpen = HalfOpen(
            limit: settings.halfOpen / workers, perDevice: max(1, settings.halfOpenPerDevice / workers))
        shares = FlowShares(limit: settings.flowsPerDevice / workers)
        lingering = TimeWaitTable(capacity: flowLimit, seed: random.key())
        icmpLimits = RateLimiter(perSecond: (settings.icmpPerSecond + workers - 1) / workers, seed: random.key())
        fragments = Fragments(
            budget: settings.datagrams.fragmentMemory / workers, lifetime: settings.datagrams.fragmentTime)
        datagrams = DatagramFlows(
            limit: settings.datagrams.flows / workers, perDevice: settings.datagrams.flowsPerDevice / workers,
            seed: random.key(), now: Clock.now())
        initialSequences = seed.shared.initialSequences
        cookies = seed.shared.cookies
        let tap = seed.shared.tap
        switch seed.queue.take() {
        case .some(let queue): output = TunnelOutput(queue, tap: tap)
        case .none: output = nil
        }
        poller = seed.poller
    }

    mutating func run() {
        var events = [PolledEvent](repeating: .none, count: Poller.batch)
        while !isStopping {
            let count = poller.wait(into: &events, until: nextWake)
            turn(events, count, at: Clock.now())
            logSink.flush()
        }
        endAllFlows()
        logSink.flush()
    }

    /// One turn of the loop: takes the first `count` events, and does all that follows from them at this time.
    ///
    /// The lines that it has to say wait in `logSink`.
    mutating func turn(_ events: [PolledEvent], _ count: Int, at time: Instant) {
        now = time
        turnLeft = Self.turnBudget
        for position in 0..<count { take(events[position]) }
        if tunnelHasMore { tunnelHasMore = readPackets() }
        serveTouched()
        expireTimers()
        serveTouched()
        flushBursts()
        feedStarved()
        resumeListeners()
        tidy()
        reroute()
        if output != nil { output.value.flushCapture() }
    }

    /// When the loop has to go on at the latest.
    var nextWake: Instant? {
        if tunnelHasMore || !touched.isEmpty || rerouting.isUnderWay { return now }
        var deadline = min(timers.nextDeadline() ?? .never, fragments.nextDeadline ?? .never, tidyAt, listenersResumeAt)
        deadline = min(deadline, datagrams.nextDeadline, burstsDueAt, rerouting.dueAt)
        // Records of ended flows are no longer found after their time, so they can go many at once.
        if let next = lingering.nextDeadline { deadline = min(deadline, next + .milliseconds(100)) }
        return deadline == .never ? nil : deadline
    }

    /// Puts a flow on the list of those to be served in this turn.
    mutating func touch(_ handle: Handle) {
        guard !flows[handle].isTouched else { return }
        flows[handle].isTouched = true
        touched.append(handle)
    }

    /// Puts a flow on the list of those that go on when other flows have given buffers back: no event will tell them.
    @discardableResult mutating func starve(_ handle: Handle) -> Bool {
        guard !flows[handle].isStarved else { return false }
        flows[handle].isStarved = true
        starved.append(handle)
        return false
    }

    /// Lets as many starved flows go on as there are chunks.
    private mutating func feedStarved() {
        guard !starved.isEmpty, pool.available > 0 else { return }
        var left = pool.available / BufferPool.chunkSize
        var fed = 0
        while fed < starved.count, left > 0 {
            let handle = starved[fed]
            fed += 1
            guard flows.contains(handle) else { continue }
            flows[handle].isStarved = false
            touch(handle)
            left -= 1
        }
        starved.removeFirst(fed)
    }

    private mutating func take(_ event: PolledEvent) {
        switch Token(rawValue: event.token) {
        case .tunnel: tunnelHasMore = true
        case .mailbox: collectMail()
        case .listener(let position): acceptClients(position)
        case .client(let place, let generation):
            guard let handle = flows.handle(at: place), handle.matches(generation: generation) else { return }
            flows[handle].client?.note(event)
            touch(handle)
        case .upstream(let place, let generation, let slot):
            guard let handle = flows.handle(at: place), handle.matches(generation: generation) else { return }
            takeUpstream(event, slot: slot, of: handle)
        case .datagram(let place, let generation):
            guard let handle = datagrams.flows.handle(at: place), handle.matches(generation: generation) else { return }
            takeAnswers(handle)
        }
    }

    private mutating func serveTouched() {
        var position = 0
        // A flow that could go on but had its share of this turn comes again in the next one.
        let due = touched.count
        while position < due, turnLeft > 0 {
            let handle = touched[position]
            position += 1
            guard flows.contains(handle) else { continue }
            flows[handle].isTouched = false
            serve(handle)
        }
        touched.removeFirst(position)
    }

    private mutating func expireTimers() {
        while let handle = timers.expire(now) {
            guard flows.contains(handle) else { continue }
            timeout(handle)
        }
        lingering.expire(now)
        fragments.expire(now)
        expireDatagrams()
    }
}
