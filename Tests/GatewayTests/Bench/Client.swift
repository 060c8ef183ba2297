/// A TCP client on the device, segment by segment: it keeps its sequence numbers, and says what the test tells it
/// to say.

import Addresses
import Bytes
import Testing
import Wire

final class Client {
    let address: SocketAddress
    let target: SocketAddress
    private unowned let bench: Bench
    /// The queue that its packets come through.
    var queue: Int

    /// SND.NXT and RCV.NXT.
    var next = SequenceNumber(1000)
    var expected = SequenceNumber(0)
    /// What its SYN offers.
    var offer = TCPOptions(maximumSegmentSize: 1460)
    var window: UInt16 = 65535
    /// Whether data is acknowledged at once.
    var acknowledges = true
    /// TSval of what is sent, and the last one that came; used when the offer has timestamps.
    var clock: UInt32 = 100
    private var echo: UInt32 = 0

    /// Every segment that came, in order.
    private(set) var segments: [TCPSegment] = []
    private(set) var packets: [Seen] = []
    private(set) var received: [UInt8] = []
    private(set) var hasEnded = false
    private(set) var wasReset = false
    /// The gateway's last acknowledgement.
    private(set) var acknowledged = SequenceNumber(0)
    private var lastWindow = 0

    init(_ address: SocketAddress, _ target: SocketAddress, on bench: Bench, queue: Int) {
        self.address = address
        self.target = target
        self.bench = bench
        self.queue = queue
    }

    var text: String { String(decoding: received, as: UTF8.self) }

    /// Whether a packet is for this client.
    func isMeant(by seen: Seen) -> Bool {
        seen.tcp.map {
            $0.destinationPort == address.port && $0.sourcePort == target.port && seen.ip.destination == address.address
                && seen.ip.source == target.address
        } ?? false
    }

    // MARK: Sending

    /// A packet with a segment of this client.
    func packet(
        _ flags: TCPFlags, sequence: SequenceNumber, _ data: [UInt8] = [], options: TCPOptions? = nil
    ) -> [UInt8] {
        var own = TCPOptions()
        if offer.timestamps != nil { own.timestamps = TCPTimestamps(value: clock, echo: echo) }
        let segment = TCPSegment(
            sequence: sequence, acknowledgement: flags.contains(.acknowledge) ? expected : SequenceNumber(0),
            flags: flags, window: window, options: options ?? own, payloadCount: data.count)
        var sum = InternetChecksum()
        sum.add(data.span)
        var header = [UInt8](repeating: 0, count: OutgoingTCP.maximumHeaderLength)
        var span = header.mutableSpan
        let length = OutgoingTCP(source: address, destination: target, segment: segment)
            .write(into: &span, withVirtio: false, payloadSum: sum)
        return header[..<length] + data
    }

    /// Sends a segment as it is, without a change of state.
    func sendRaw(
        _ flags: TCPFlags, sequence: SequenceNumber? = nil, _ data: [UInt8] = [], options: TCPOptions? = nil
    ) throws {
        try bench.inject(packet(flags, sequence: sequence ?? next, data, options: options), at: queue)
    }

    /// Sends the SYN, or the same one again.
    func sendSYN() throws {
        var options = offer
        if options.timestamps != nil { options.timestamps = TCPTimestamps(value: clock, echo: 0) }
        try sendRaw(.syn, options: options)
    }

    /// Sends data, in one segment.
    func send(_ data: [UInt8]) throws {
        try sendRaw([.acknowledge, .push], data)
        next = next + data.count
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends data as the gateway's window lets it, until all of it is acknowledged or the test has enough.
    ///
    /// Returns how much was acknowledged; the rest counts as never sent.
    @discardableResult func upload(
        _ data: [UInt8], segment: Int = 16_000, until hasEnough: () -> Bool = { false }
    ) throws -> Int {
        let first = next
        acknowledged = next
        try bench.until("everything is acknowledged") {
            let done = acknowledged - first
            if done >= data.count || hasEnough() { return true }
            // Each round sends anew from the first octet that is not acknowledged.
            let edge = min(done + lastWindow, data.count)
            for start in stride(from: done, to: edge, by: segment) {
                let piece = Array(data[start..<min(start + segment, edge)])
                try sendRaw(.acknowledge, sequence: first + start, piece)
            }
            return false
        }
        bench.settle()
        next = acknowledged
        return acknowledged - first
    }

    func acknowledge() throws { try sendRaw(.acknowledge) }

    /// Sends a FIN; it stays open for reading.
    func finish() throws {
        try sendRaw([.acknowledge, .fin])
        next = next + 1
    }

    func reset() throws { try sendRaw([.reset, .acknowledge]) }

    // MARK: Receiving

    /// Takes a packet that is for this client.
    func take(_ seen: Seen) {
        guard let segment = seen.segment else { return }
        segments.append(segment)
        packets.append(seen)
        lastWindow = Int(segment.window)
        if segment.flags.contains(.acknowledge) { acknowledged = segment.acknowledgement }
        if let stamps = segment.options.timestamps { echo = stamps.value }
        if segment.flags.contains(.reset) {
            wasReset = true
            return
        }
        if segment.flags.contains(.syn) { expected = segment.sequence + 1 }
        let known = expected - segment.sequence
        guard known >= 0, known <= seen.payload.count else { return }
        received += seen.payload[known...]
        expected = expected + (seen.payload.count - known)
        if segment.flags.contains(.fin), !hasEnded {
            hasEnded = true
            expected = expected + 1
        }
        guard acknowledges, segment.length > 0, !segment.flags.contains(.syn) else { return }
        do { try acknowledge() } catch { Issue.record("\(error)") }
    }

    /// The octets of each packet with payload.
    var sizes: [Int] { packets.map(\.payload.count).filter { $0 > 0 } }

    /// The octets of the largest segment that is on the wire once the kernel has cut what it is to cut.
    var largestPiece: Int { packets.map { $0.gsoSize > 0 ? $0.gsoSize : $0.payload.count }.max() ?? 0 }

    /// Forgets the packets that came so far.
    func forget() { packets = [] }

    // MARK: Whole steps

    /// The segments since this was last called.
    func takeSegments() -> [TCPSegment] {
        bench.settle()
        defer { segments = [] }
        return segments
    }

    /// Waits for the SYN-ACK and completes the handshake.
    func establish(sourceLocation: SourceLocation = #_sourceLocation) throws {
        next = next + 1
        bench.until("the SYN is answered", sourceLocation: sourceLocation) {
            segments.contains { $0.flags == [.syn, .acknowledge] } || wasReset
        }
        try #require(!wasReset, "refused", sourceLocation: sourceLocation)
        try acknowledge()
        bench.settle()
    }

    /// Opens a stream through the bench's upstream.
    func open(_ answer: String = "HTTP/1.1 200 OK\r\n\r\n") throws -> Peer {
        try sendSYN()
        let peer = try bench.acceptTunnel(answer)
        try establish()
        return peer
    }
}
