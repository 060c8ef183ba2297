/// A long download over a lossy link in virtual time, to see how well the endpoint recovers.
///
/// The receiver acknowledges as Linux does: every second segment, at once when something is missing, with SACK blocks
/// and timestamps.
import Bytes
import Streams
import TestSupport
import Wire

struct Download: ~Copyable {
    private var random: SeededGenerator
    private var toClient: SimulatedLink
    private var toGateway: SimulatedLink
    private let settings = TCPSettings()
    private var pool = BufferPool(budget: 64 << 20)
    private var endpoint: TCPEndpoint
    private var now = Instant(nanoseconds: 1_000_000_000)
    private let start = Instant(nanoseconds: 1_000_000_000)

    // The client. Places count from the gateway's SYN, which is 0.
    private var next = 1
    private var ahead: [(start: Int, end: Int)] = []
    private var latest: [Int] = []
    private var waiting = 0
    private var answerDeadline = Instant.never
    private var recentStamp: UInt32 = 0
    private let gateway = SequenceNumber(1_000_000)
    private let client = SequenceNumber(5_000_000)

    init(_ faults: LinkFaults, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        toClient = SimulatedLink(faults)
        toGateway = SimulatedLink(faults)
        let options = TCPOptions(
            maximumSegmentSize: 1460, windowScale: 7, selectiveAcknowledgementPermitted: true,
            timestamps: TCPTimestamps(value: 1, echo: 0))
        endpoint = TCPEndpoint(
            syn: TCPSegment(sequence: client, flags: .syn, window: 64240, options: options), initialSequence: gateway,
            timestampOffset: 0, family: .ipv4, settings: settings, now: now)
    }

    struct Result {
        var bitsPerSecond: Double
        var accounts: TCPAccounts
        var segments: Int
    }
    private var segments = 0

    mutating func run(for time: Interval) -> Result {
        endpoint.accept()
        drain()
        let end = now + time
        while true {
            let due = min(toClient.nextTime, toGateway.nextTime, endpoint.deadline, answerDeadline)
            if due > end { break }
            now = max(now, due)
            if toClient.nextTime <= now, let flying = toClient.arrival() { arriveAtClient(flying.segment) }
            if toGateway.nextTime <= now, let flying = toGateway.arrival() { arriveAtGateway(flying.segment) }
            if answerDeadline <= now { answer() }
            if endpoint.deadline <= now {
                _ = endpoint.timeout(now: now, settings: settings)
                drain()
            }
        }
        endpoint.release(&pool)
        let seconds = Double(time.nanoseconds) / 1e9
        return Result(bitsPerSecond: Double(next - 1) * 8 / seconds, accounts: endpoint.accounts, segments: segments)
    }

    private mutating func arriveAtGateway(_ segment: TCPSegment) {
        _ = endpoint.receive(segment, payload: [UInt8]().span, now: now, settings: settings, pool: &pool)
        let block = [UInt8](repeating: 7, count: 65536)
        while true {
            let space = endpoint.sendSpace(pool: pool, settings: settings)
            if space == 0 { break }
            let piece = min(space, block.count)
            _ = endpoint.append(block.span.extracting(0..<piece), pool: &pool)
        }
        drain()
    }

    private mutating func drain() {
        while let out = endpoint.nextSegment(now: now, settings: settings, pool: pool, maximumPayload: 65483) {
            let size = out.gsoSize > 0 ? out.gsoSize : max(out.segment.payloadCount, 1)
            var done = 0
            repeat {
                var piece = out.segment
                piece.sequence += done
                piece.payloadCount = min(size, out.segment.payloadCount - done)
                done += size
                segments += 1
                toClient.carry(Flying(segment: piece, bytes: []), now: now, random: &random)
            } while done < out.segment.payloadCount
        }
    }

    // MARK: The client

    private mutating func arriveAtClient(_ segment: TCPSegment) {
        if segment.flags.contains(.syn) {
            recentStamp = segment.options.timestamps?.value ?? 0
            return answer()
        }
        let place = segment.sequence - gateway
        let end = place + segment.payloadCount
        if place <= next { recentStamp = segment.options.timestamps?.value ?? recentStamp }
        guard segment.payloadCount > 0 else { return }
        guard place <= next, end > next else {
            if place > next { hold(place, end) }
            return answer()
        }
        next = end
        let hadHole = !ahead.isEmpty
        while let first = ahead.first, first.start <= next {
            next = max(next, first.end)
            ahead.removeFirst()
        }
        waiting += 1
        if hadHole || waiting >= 2 { return answer() }
        answerDeadline = min(answerDeadline, now + .milliseconds(40))
    }

    private mutating func hold(_ start: Int, _ end: Int) {
        latest.insert(start, at: 0)
        if latest.count > 6 { latest.removeLast() }
        var merged = (start: start, end: end)
        ahead.removeAll { range in
            guard range.start <= merged.end, merged.start <= range.end else { return false }
            merged = (min(range.start, merged.start), max(range.end, merged.end))
            return true
        }
        ahead.insert(merged, at: ahead.firstIndex { $0.start > merged.start } ?? ahead.count)
    }

    private mutating func answer() {
        waiting = 0
        answerDeadline = .never
        var options = TCPOptions()
        options.timestamps = TCPTimestamps(
            value: UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000), echo: recentStamp)
        var told: [Int] = []
        for place in latest where told.count < 3 {
            guard let range = ahead.first(where: { $0.start <= place && place < $0.end }), !told.contains(range.start)
            else { continue }
            told.append(range.start)
            options.selectiveAcknowledgements.append(SACKBlock(gateway + range.start, gateway + range.end))
        }
        let segment = TCPSegment(
            sequence: client + 1, acknowledgement: gateway + next, flags: .acknowledge, window: 24000, options: options)
        toGateway.carry(Flying(segment: segment, bytes: []), now: now, random: &random)
    }
}
