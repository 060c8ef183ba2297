/// The way out to the devices: headers are written here, the payload leaves from where it was received.

import Addresses
import Bytes
import LinuxIO
import Wire

struct TunnelOutput: ~Copyable {
    private let queue: TunnelQueue
    /// Where the headers of the packet at hand are written.
    private var header = [UInt8](repeating: 0, count: OutgoingTCP.maximumHeaderLength)
    /// The IPv4 identification of the next packet; packets that are not fragmented need no more than variety.
    private var identification: UInt16 = 0

    init(_ queue: consuming TunnelQueue) {
        self.queue = queue
    }

    var hasVirtioHeader: Bool { queue.hasVirtioHeader }
    var descriptor: CInt { queue.descriptor.number }

    func read(into buffer: inout PacketBuffer) -> TunnelRead { queue.read(into: &buffer) }

    /// Sends one segment, or one super-segment that the kernel cuts into pieces of `gsoSize`.
    mutating func send(
        _ segment: TCPSegment, gsoSize: Int, payload: ByteRuns, of key: FlowKey, pool: borrowing BufferPool,
        counters: inout Counters
    ) {
        identification &+= 1
        let packet = OutgoingTCP(
            source: key.target, destination: key.client, segment: segment, gsoSize: gsoSize,
            identification: identification)
        let withVirtio = queue.hasVirtioHeader
        let sum = withVirtio ? InternetChecksum() : Self.sum(of: payload, pool: pool)
        var span = header.mutableSpan
        let length = packet.write(into: &span, withVirtio: withVirtio, payloadSum: sum)
        let outcome = queue.write(header: header.span.extracting(0..<length), payload: payload, pool: pool)
        counters.note(outcome, bytes: length + payload.byteCount)
    }

    /// Sends a packet that lies in one piece: its virtio header, where the queue has one, says nothing.
    mutating func send(_ packet: Span<UInt8>, counters: inout Counters) {
        guard queue.hasVirtioHeader else {
            counters.note(queue.write(packet), bytes: packet.count)
            return
        }
        var bytes = [UInt8](repeating: 0, count: VirtioHeader.length)
        bytes.append(copying: packet)
        counters.note(queue.write(bytes.span), bytes: packet.count)
    }

    /// The sum over a payload in runs; an odd run in the middle shifts what follows by one octet.
    private static func sum(of payload: ByteRuns, pool: borrowing BufferPool) -> InternetChecksum {
        var total = InternetChecksum()
        var isOdd = false
        for index in 0..<payload.runCount {
            var part = InternetChecksum()
            pool.withBytes(payload[index]) { part.add($0) }
            total.add(isOdd ? part.partial.byteSwapped : part.partial)
            if payload[index].count & 1 == 1 { isOdd.toggle() }
        }
        return total
    }
}
