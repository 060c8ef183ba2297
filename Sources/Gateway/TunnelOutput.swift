/// The TUN device as a worker sees it: packets are read from it, and what goes to the devices is written to it,
/// the headers from here, the payload from where it was received.

import Bytes
import Flows
import LinuxIO
import Wire

struct TunnelOutput: ~Copyable {
    private let queue: TunnelQueue
    private let tap: CaptureTap?
    /// Where the headers of the packet at hand are written.
    private var header = [UInt8](repeating: 0, count: OutgoingTCP.maximumHeaderLength)
    /// A virtio header that asks for nothing, and behind it the packet at hand.
    private var framed = [UInt8](repeating: 0, count: VirtioHeader.length)
    /// The IPv4 identification of the next packet; none of them is fragmented, so variety is all it needs.
    private var identification: UInt16 = 0

    init(_ queue: consuming TunnelQueue, tap: CaptureTap?) {
        self.queue = queue
        self.tap = tap
    }

    var hasVirtioHeader: Bool { queue.hasVirtioHeader }

    func read(into buffer: inout PacketBuffer) -> TunnelRead { queue.read(into: &buffer) }

    /// Shows a packet that was read to the capture.
    func record(_ packet: Span<UInt8>, virtio: VirtioHeader?) {
        if let tap, tap.isRunning { tap.record(packet, virtio: virtio) }
    }

    /// Hands what was captured in this turn to the kernel, so that it survives whatever becomes of the process.
    func flushCapture() {
        if let tap, tap.isRunning { tap.flush() }
    }

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
        var sum = InternetChecksum()
        if !withVirtio { sum.add(payload, of: pool) }
        var space = header.mutableSpan
        let length = packet.write(into: &space, withVirtio: withVirtio, payloadSum: sum)
        let bytes = header.span.extracting(0..<length)
        counters.note(queue.write(header: bytes, payload: payload, pool: pool), bytes: length + payload.byteCount)
        if let tap, tap.isRunning {
            tap.record(header: bytes, payload: payload, pool: pool, hasVirtioHeader: withVirtio)
        }
    }

    /// Sends a packet whose checksums are whole.
    mutating func send(_ packet: Span<UInt8>, counters: inout Counters) {
        if let tap, tap.isRunning { tap.record(packet) }
        guard queue.hasVirtioHeader else {
            counters.note(queue.write(packet), bytes: packet.count)
            return
        }
        framed.removeLast(framed.count - VirtioHeader.length)
        framed.append(copying: packet)
        counters.note(queue.write(framed.span), bytes: packet.count)
    }
}
