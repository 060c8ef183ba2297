/// Captures of real clients, replayed into the TCP endpoint.
///
/// Each file was taken with tcpdump at the gateway's end of a link made by `linkemulator`, between a Linux 6.18
/// client (10.9.0.2 or fd00:9::2) and a Linux server whose part the endpoint takes over here: it gets the server's
/// initial sequence number and clock, and each packet of the client at the time at which it arrived. What the
/// client sends depends on the answers that it got then, so the endpoint must be able to live with a client that
/// listens to somebody else. The stream is octet i = 7 i + ⌊i / 256⌋ mod 256 in the direction of the name.
///
///     upload-clean     40,000 octets up, 5 ms each way
///     upload-lossy     60,000 octets up, 10 ms, 8 % lost, 15 % held back, 5 % doubled; 5 % of the answers lost
///     upload-six       30,000 octets up over IPv6, 5 ms, 10 % lost
///     download-lossy   30,000 octets down, 10 ms, 8 % lost; 3 % of the answers lost

import Addresses
import Bytes
import Capture
import Streams
import Testing
import Wire

@Suite("Replayed captures")
struct ReplayTests {
    static func data(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) } }

    @Test(
        "what a client sent through a bad link arrives whole and in order",
        arguments: [("upload-clean", 40_000), ("upload-lossy", 60_000), ("upload-six", 30_000)])
    func upload(name: String, count: Int) throws {
        var replay = try Replay(name)
        try replay.run(sending: [])
        #expect(replay.received == Self.data(count))
        let (isWhole, phase) = (replay.clientHasFinished, replay.endpoint.phase)
        #expect(isWhole)
        #expect(phase == .closed(.finished))
        replay.release()
    }

    @Test func everyOctetGoesToAClientThatLosesSome() throws {
        var replay = try Replay("download-lossy")
        let data = Self.data(30_000)
        try replay.run(sending: data)
        let acknowledged = replay.endpoint.accounts.acknowledged
        #expect(acknowledged == 30_000)
        #expect(replay.sent.count == 30_000)
        #expect((0..<30_000).allSatisfy { replay.sent[$0] == data[$0] })
        // The client asked for what it had lost, and got it again.
        let again = replay.endpoint.accounts.retransmitted
        #expect(again > 0)
        replay.release()
    }
}

/// One capture and the endpoint that plays its server.
private struct Replay: ~Copyable {
    private struct Arrival {
        var time: Instant
        var segment: TCPSegment
        var payload: [UInt8]
    }

    private var arrivals: [Arrival] = []
    private let settings = TCPSettings()
    private var pool = BufferPool(budget: 8 << 20)
    private let first: SequenceNumber
    var endpoint: TCPEndpoint
    /// What the upstream took.
    private(set) var received: [UInt8] = []
    private(set) var clientHasFinished = false
    /// What was sent to the client, by its place in the stream.
    private(set) var sent: [Int: UInt8] = [:]

    init(_ name: String) throws {
        let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        var reader = try CaptureReader(path: "/\(folder)/Captures/\(name).pcap")
        var arrivals: [Arrival] = []
        var answer: Arrival?
        var family = AddressFamily.ipv4
        while let packet = try reader.next() {
            let ip = try IPPacket.parse(packet.bytes.span)
            let header = try TCPHeader.parse(packet.bytes.span, of: ip)
            family = ip.source.isIPv4 ? .ipv4 : .ipv6
            let time = Instant(nanoseconds: packet.time.seconds * 1_000_000_000 + Int64(packet.time.nanoseconds))
            let arrival = Arrival(
                time: time, segment: header.segment, payload: Array(packet.bytes[header.payload]))
            if header.destinationPort == 9000 {
                arrivals.append(arrival)
            } else if answer == nil {
                answer = arrival
            }
        }
        let server = try #require(answer)
        let syn = try #require(arrivals.first)
        let clock = try #require(server.segment.options.timestamps).value
        first = server.segment.sequence + 1
        endpoint = TCPEndpoint(
            syn: syn.segment, initialSequence: server.segment.sequence,
            timestampOffset: clock &- UInt32(truncatingIfNeeded: server.time.nanoseconds / 1_000_000),
            family: family, settings: settings, now: syn.time)
        self.arrivals = Array(arrivals.dropFirst())
        endpoint.accept()
        answerAll(syn.time)
    }

    /// Lets every packet of the client arrive; the endpoint sends `data` and finishes, or finishes after the client.
    mutating func run(sending data: [UInt8]) throws {
        var rest = data[...]
        for arrival in arrivals {
            while endpoint.deadline <= arrival.time {
                let now = endpoint.deadline
                _ = endpoint.timeout(now: now, settings: settings)
                answerAll(now)
            }
            take(arrival)
            if !data.isEmpty, !rest.isEmpty {
                let space = endpoint.sendSpace(pool: pool, settings: settings)
                let piece = Array(rest.prefix(space))
                rest.removeFirst(endpoint.append(piece.span, pool: &pool))
                if rest.isEmpty { endpoint.finish() }
            }
            if data.isEmpty, clientHasFinished { endpoint.finish() }
            answerAll(arrival.time)
        }
    }

    mutating func release() { endpoint.release(&pool) }

    private mutating func take(_ arrival: Arrival) {
        let receipt = endpoint.receive(
            arrival.segment, payload: arrival.payload.span, now: arrival.time, settings: settings, pool: &pool)
        var events = receipt.events
        if !receipt.direct.isEmpty {
            received += arrival.payload[receipt.direct]
            let nothing: [UInt8] = []
            events.formUnion(endpoint.keep(nothing.span, pool: &pool))
        }
        while endpoint.unread > 0 {
            let runs = endpoint.unreadRuns()
            for index in 0..<runs.runCount { pool.withBytes(runs[index]) { received.append(copying: $0) } }
            endpoint.removeUnread(runs.byteCount, pool: &pool)
        }
        if events.contains(.finReceived) { clientHasFinished = true }
    }

    private mutating func answerAll(_ now: Instant) {
        while let next = endpoint.nextSegment(now: now, settings: settings, pool: pool, maximumPayload: 0) {
            var place = next.segment.sequence - first
            for index in 0..<next.payload.runCount {
                pool.withBytes(next.payload[index]) { bytes in
                    for offset in bytes.indices {
                        sent[place] = bytes[offset]
                        place += 1
                    }
                }
            }
        }
    }
}
