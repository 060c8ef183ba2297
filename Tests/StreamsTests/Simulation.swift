/// One seeded run of the endpoint against the reference peer, in virtual time.
import Bytes
import Streams
import TestSupport
import Wire

struct Simulation: ~Copyable {
    private var random: SeededGenerator
    private var peer: ReferencePeer
    private var toPeer: SimulatedLink
    private var toGateway: SimulatedLink
    private var settings = TCPSettings()
    private var pool: BufferPool
    private var endpoints = Slab<TCPEndpoint>()
    private var handle: Handle?
    private var now = Instant(nanoseconds: 5_000_000_000)
    private var nextStep: Instant

    /// What the upstream sends and has sent, and what it took.
    private let downstream: [UInt8]
    private var sentDown = 0
    private var upstream: [UInt8] = []
    private var upstreamAborts = false
    private var gatewayEnded = false
    private var isOver = false
    private let maximumPayload: Int
    private let canReset: Bool
    private var toldEdge: SequenceNumber?
    private var problem: String?

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var character = ReferencePeer.Character(
            options: TCPOptions(
                maximumSegmentSize: random.chance(0.1) ? nil : UInt16(random.number(400..<1461)),
                windowScale: random.chance(0.8) ? UInt8(random.number(0..<9)) : nil,
                selectiveAcknowledgementPermitted: random.chance(0.8),
                timestamps: random.chance(0.8) ? TCPTimestamps(value: 1, echo: 0) : nil),
            initial: UInt32(truncatingIfNeeded: random.next()))
        character.bufferSize = random.chance(0.2) ? random.number(1500..<6000) : random.number(16_000..<200_000)
        if character.options.windowScale == nil { character.bufferSize = min(character.bufferSize, 65_000) }
        character.sendingWindow = random.number(2000..<60_000)
        character.pauses = random.chance(0.3) ? 0.2 : 0
        character.isLazy = random.chance(0.5)
        character.finishesLast = random.chance(0.3)
        let size = random.chance(0.2) ? 3000 : 120_000
        let downCount = random.number(0..<size)
        if random.chance(0.05) { character.resetsAfter = random.number(0..<downCount + 1) }
        peer = ReferencePeer(character, outgoing: random.bytes(random.number(0..<size)))
        downstream = random.bytes(downCount)
        var faults = LinkFaults()
        let isBad = random.chance(0.8)
        faults.loss = isBad ? [0, 0.01, 0.03, 0.1, 0.2][random.number(0..<5)] : 0
        faults.corruption = isBad && random.chance(0.3) ? 0.01 : 0
        faults.duplication = isBad && random.chance(0.3) ? 0.05 : 0
        faults.reordering = isBad && random.chance(0.3) ? 0.25 : 0
        faults.delay = .microseconds(Int64([50, 1000, 10_000, 100_000][random.number(0..<4)]))
        if random.chance(0.3) { faults.rate = random.number(100_000..<20_000_000) }
        toPeer = SimulatedLink(faults)
        toGateway = SimulatedLink(faults)
        pool = BufferPool(budget: random.chance(0.1) ? 96 << 10 : 16 << 20)
        maximumPayload = random.chance(0.5) ? 65483 : 0
        upstreamAborts = random.chance(0.03)
        canReset = character.resetsAfter != nil || upstreamAborts
        // The peer's timer goes up to 20 s; TIME-WAIT must outlast a few of its retransmissions.
        settings.timeWait = .seconds(240)
        nextStep = now
        self.random = random
    }

    /// Runs to the end; returns what went wrong, or nil.
    mutating func run() -> String? {
        carry(peer.open(now: now))
        let end = now + .hours(2)
        var steps = 0
        while !isOver {
            steps += 1
            let deadline = handle.map { endpoints[$0].deadline } ?? .never
            let next = min(toPeer.nextTime, toGateway.nextTime, peer.deadline, deadline, nextStep)
            if next > end || steps > 2_000_000 { return "does not end: \(describe())" }
            now = max(now, next)
            if toGateway.nextTime <= now, let flying = toGateway.arrival() { arriveAtGateway(flying) }
            if toPeer.nextTime <= now, let flying = toPeer.arrival() { carry(peer.receive(flying, now: now)) }
            if peer.deadline <= now { carry(peer.tick(now: now)) }
            if deadline <= now { tickGateway() }
            if nextStep <= now { step() }
            if let problem = problem ?? peer.problem { return problem }
            checkEnd()
        }
        return verdict()
    }

    private mutating func carry(_ all: [Flying]) {
        for flying in all { toGateway.carry(flying, now: now, random: &random) }
    }

    // MARK: The gateway's side

    private mutating func arriveAtGateway(_ flying: Flying) {
        guard let handle else {
            if !gatewayEnded, flying.segment.flags == .syn {
                self.handle = endpoints.insert(
                    TCPEndpoint(
                        syn: flying.segment, initialSequence: SequenceNumber(UInt32(truncatingIfNeeded: random.next())),
                        timestampOffset: UInt32(truncatingIfNeeded: random.next()), family: .ipv4, settings: settings,
                        now: now))
            } else if let reply = TCPReset.answering(flying.segment) {
                toPeer.carry(Flying(segment: reply, bytes: []), now: now, random: &random)
            }
            return
        }
        let receipt = endpoints[handle].receive(
            flying.segment, payload: flying.bytes.span, now: now, settings: settings, pool: &pool)
        var events = receipt.events
        if !receipt.direct.isEmpty {
            let taken = random.chance(0.3) ? random.number(0..<receipt.direct.count + 1) : receipt.direct.count
            let split = receipt.direct.lowerBound + taken
            upstream += flying.bytes[receipt.direct.lowerBound..<split]
            let rest = flying.bytes.span.extracting(split..<receipt.direct.upperBound)
            events.formUnion(endpoints[handle].keep(rest, pool: &pool))
        }
        heed(events)
        drain()
    }

    private mutating func heed(_ events: TCPEvents) {
        if events.contains(.closed) {
            drain()
            readAll()
            endGateway()
        }
    }

    private mutating func endGateway() {
        releaseEndpoint()
        gatewayEnded = true
    }

    private mutating func releaseEndpoint() {
        guard let handle else { return }
        var endpoint = endpoints.remove(handle)
        endpoint.release(&pool)
        self.handle = nil
    }

    private var phase: TCPEndpoint.Phase? { handle.map { endpoints[$0].phase } }

    private mutating func tickGateway() {
        guard let handle else { return }
        heed(endpoints[handle].timeout(now: now, settings: settings))
        drain()
    }

    private mutating func drain() {
        guard let handle else { return }
        while let next = endpoints[handle].nextSegment(
            now: now, settings: settings, pool: pool, maximumPayload: maximumPayload)
        {
            var bytes: [UInt8] = []
            for index in 0..<next.payload.runCount { pool.withBytes(next.payload[index]) { bytes.append(copying: $0) } }
            checkEdge(next.segment)
            for piece in cut(next, bytes) { toPeer.carry(piece, now: now, random: &random) }
        }
    }

    /// The right edge of the window never moves back (RFC 9293, section 3.8.6).
    private mutating func checkEdge(_ segment: TCPSegment) {
        guard !segment.flags.contains(.syn), !segment.flags.contains(.reset) else { return }
        let isScaled = peer.character.options.windowScale != nil
        let edge = segment.acknowledgement + Int(segment.window) << (isScaled ? Int(settings.windowShift) : 0)
        if let toldEdge, edge < toldEdge { problem = "the window's edge moved back by \(toldEdge - edge)" }
        toldEdge = edge
    }

    /// What the kernel does to a super-segment.
    private func cut(_ outgoing: OutgoingSegment, _ bytes: [UInt8]) -> [Flying] {
        guard outgoing.gsoSize > 0 else { return [Flying(segment: outgoing.segment, bytes: bytes)] }
        return stride(from: 0, to: bytes.count, by: outgoing.gsoSize).map { start in
            let end = min(start + outgoing.gsoSize, bytes.count)
            var segment = outgoing.segment
            segment.sequence += start
            segment.payloadCount = end - start
            if end < bytes.count { segment.flags.subtract([.fin, .push]) }
            return Flying(segment: segment, bytes: Array(bytes[start..<end]))
        }
    }

    /// The programs at both ends do something.
    private mutating func step() {
        nextStep = now + .milliseconds(Int64(random.number(1..<60)))
        if peer.character.pauses > 0 {
            let reads = !random.chance(peer.character.pauses)
            carry(peer.setReading(reads, tells: random.chance(0.5), now: now))
        }
        guard let handle, let phase else { return }
        if phase == .dialling, random.chance(0.3) { endpoints[handle].accept() }
        if phase != .dialling, upstreamAborts, random.chance(0.05) {
            endpoints[handle].abort()
            drain()
            return endGateway()
        }
        readUpstream(handle)
        writeDownstream(handle, phase)
        drain()
    }

    private mutating func readUpstream(_ handle: Handle) {
        var left = random.chance(0.7) ? random.number(0..<100_000) : 0
        while left > 0, endpoints[handle].unread > 0 {
            var run = endpoints[handle].unreadRuns()[0]
            run.count = min(run.count, left)
            left -= run.count
            pool.withBytes(run) { upstream.append(copying: $0) }
            endpoints[handle].removeUnread(run.count, pool: &pool)
        }
    }

    private mutating func writeDownstream(_ handle: Handle, _ phase: TCPEndpoint.Phase) {
        guard phase == .established || phase == .closeWait else { return }
        let space = endpoints[handle].sendSpace(pool: pool, settings: settings)
        let count = min(space, random.number(1..<40_000), downstream.count - sentDown)
        if count > 0 {
            let bytes = Array(downstream[sentDown..<sentDown + count])
            sentDown += endpoints[handle].append(bytes.span, pool: &pool)
        }
        if sentDown == downstream.count { endpoints[handle].finish() }
    }

    // MARK: The end

    private mutating func checkEnd() {
        let gatewayDone = gatewayEnded || phase == .timeWait
        let peerDone = peer.state == .closed || peer.state == .reset
        let isQuiet = toPeer.nextTime == .never && toGateway.nextTime == .never
        isOver = gatewayDone && peerDone && isQuiet || gatewayEnded && peerDone
        // A RST may be lost; then only keepalive would notice.
        if canReset, isQuiet, peer.deadline == .never {
            let rests = handle.map { endpoints[$0].deadline > now + .seconds(600) } ?? true
            isOver = isOver || rests && (peerDone || gatewayEnded)
        }
    }

    private mutating func verdict() -> String? {
        readAll()
        let unfinished = peer.state == .reset || phase != nil && phase != .timeWait
        releaseEndpoint()
        if pool.used != 0 { return "\(pool.used) chunks are lost" }
        if peer.incoming != Array(downstream.prefix(peer.incoming.count)) { return "the downstream is damaged" }
        if upstream != Array(peer.outgoing.prefix(upstream.count)) { return "the upstream is damaged" }
        if canReset { return nil }
        if unfinished { return "reset: \(describe())" }
        if peer.incoming.count != downstream.count { return "the downstream is short: \(describe())" }
        if upstream.count != peer.outgoing.count { return "the upstream is short: \(describe())" }
        return nil
    }

    private mutating func readAll() {
        guard let handle else { return }
        while endpoints[handle].unread > 0 {
            let run = endpoints[handle].unreadRuns()[0]
            pool.withBytes(run) { upstream.append(copying: $0) }
            endpoints[handle].removeUnread(run.count, pool: &pool)
        }
    }

    private func describe() -> String {
        let phase = phase
        let up = "up \(upstream.count) of \(peer.outgoing.count)"
        let down = "down \(peer.incoming.count) of \(downstream.count) (queued \(sentDown))"
        return "\(String(describing: phase)), peer \(peer.state), \(up), \(down), at \(now.nanoseconds / 1_000_000) ms"
    }
}
