/// Segments that no sane client sends, at any moment: the endpoint may refuse them, but never stops, leaks or spins.
import Bytes
import Streams
import TestSupport
import Testing
import Wire

@Suite struct FuzzTests {
    @Test func nothingFromTheNetworkStopsAnEndpoint() {
        for seed in LongRun.seeds(1000, long: 100_000) {
            if let problem = Self.torment(seed: seed) {
                Issue.record("seed \(seed): \(problem)")
                return
            }
        }
    }

    /// A hundred random events in the life of one endpoint; returns what went wrong.
    private static func torment(seed: UInt64) -> String? {
        var random = SeededGenerator(seed: seed)
        var options = Conversation.usual
        if random.chance(0.3) { options.selectiveAcknowledgementPermitted = false }
        if random.chance(0.3) { options.timestamps = nil }
        if random.chance(0.3) { options.windowScale = UInt8(random.number(0..<256)) }
        if random.chance(0.3) { options.maximumSegmentSize = UInt16(random.number(0..<65_536)) }
        var talk = Conversation(options, budget: random.chance(0.3) ? 64 << 10 : 4 << 20)
        talk.maximumPayload = random.chance(0.5) ? 65_483 : 0
        if random.chance(0.9) { talk.endpoint.accept() }
        _ = talk.answers()
        if random.chance(0.8) { talk.sends(.acknowledge, sequence: 1, acknowledgement: 1) }
        var clientNext = 1
        var gatewayNext = 1
        for _ in 0..<100 {
            talk.appetite = random.chance(0.5) ? .max : random.number(0..<2000)
            switch random.number(0..<10) {
            case 0:
                let bytes = random.bytes(random.number(0..<20_000))
                let space = talk.endpoint.sendSpace(pool: talk.pool, settings: talk.settings)
                _ = talk.endpoint.append(bytes.span.extracting(0..<min(space, bytes.count)), pool: &talk.pool)
            case 1: _ = talk.upstreamReads(random.number(0..<30_000))
            case 2:
                if let problem = elapse(&talk, &random) { return problem }
            case 3:
                if random.chance(0.05) { talk.endpoint.finish() }
                if random.chance(0.02) { talk.endpoint.abort() }
                let quoted = Conversation.gateway + gatewayNext
                if random.chance(0.1) {
                    _ = talk.endpoint.pathMTU(loweredTo: random.number(0..<2000), quotedSequence: quoted)
                }
            default: confuse(&talk, &random, &clientNext, gatewayNext)
            }
            for sent in talk.answers() { gatewayNext = max(gatewayNext, sent.sequence + sent.bytes.count) }
        }
        talk.endpoint.release(&talk.pool)
        return talk.pool.used == 0 ? nil : "\(talk.pool.used) chunks are lost"
    }

    /// Time passes, and a timer must move when it has run.
    private static func elapse(_ talk: inout Conversation, _ random: inout SeededGenerator) -> String? {
        talk.passes(.milliseconds(Int64(random.number(0..<3000))))
        for _ in 0..<50 where talk.endpoint.deadline <= talk.now {
            let deadline = talk.endpoint.deadline
            _ = talk.endpoint.timeout(now: talk.now, settings: talk.settings)
            _ = talk.answers()
            if talk.endpoint.deadline == deadline { return "a timer does not move" }
        }
        return talk.endpoint.deadline <= talk.now ? "timers never rest" : nil
    }

    /// A segment near what would be right, and often far from it.
    private static func confuse(
        _ talk: inout Conversation, _ random: inout SeededGenerator, _ clientNext: inout Int, _ gatewayNext: Int
    ) {
        var flags: TCPFlags = .acknowledge
        if random.chance(0.03) { flags = TCPFlags(rawValue: UInt8(truncatingIfNeeded: random.next())) }
        if random.chance(0.02) { flags.insert(.fin) }
        var sequence = clientNext
        if random.chance(0.4) { sequence += random.number(-5000..<20_000) }
        if random.chance(0.02) { sequence = random.number(0..<1 << 32) }
        var acknowledgement = random.number(max(0, gatewayNext - 20_000)..<gatewayNext + 1)
        if random.chance(0.02) { acknowledgement = random.number(0..<1 << 32) }
        let bytes = random.bytes(random.chance(0.5) ? 0 : random.number(0..<3000))
        var blocks: [(Int, Int)] = []
        while random.chance(0.5), blocks.count < 4 {
            let start = random.chance(0.9) ? acknowledgement + random.number(0..<20_000) : random.number(0..<1 << 32)
            blocks.append((start, start + random.number(-10..<5000)))
        }
        if sequence == clientNext { clientNext += bytes.count }
        talk.sends(
            flags, sequence: sequence, acknowledgement: acknowledgement, bytes,
            window: random.chance(0.2) ? UInt16(random.number(0..<65_536)) : nil, blocks: blocks)
    }
}
