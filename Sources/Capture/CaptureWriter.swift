/// Packets in, files out: cutting, filtering, turning files over.

public import Bytes
internal import Glibc
public import Wire

/// A running capture; one thread uses it at a time.
///
/// `flush` is to be called when the packets of a turn of the loop are recorded, and again before the end.
public struct CaptureWriter: ~Copyable, Sendable {
    private let settings: CaptureSettings
    private let filter: CaptureFilter?
    private var file: CaptureFile?
    /// Room for one segment, and for a packet that comes in pieces.
    private var segment: [UInt8]
    private var gathered: [UInt8] = []

    /// How many packets were written, each segment counted.
    public private(set) var recorded = 0

    /// How many did not pass the filter.
    public private(set) var passedOver = 0

    /// Opens the first file; the text of the filter and the place are checked here.
    public init(_ settings: CaptureSettings) throws(CaptureError) {
        let filter: CaptureFilter? =
            if let text = settings.filter { try CaptureFilter(text) } else { nil }
        let file: CaptureFile? = try CaptureFile(settings)
        self.settings = settings
        self.filter = filter
        self.file = file
        segment = [UInt8](repeating: 0, count: 65_536)
    }

    /// Records a packet that lies in one piece behind its virtio header, or without one.
    public mutating func record(
        _ packet: Span<UInt8>, virtio: VirtioHeader? = nil, at time: UnixTime
    ) throws(CaptureError) {
        guard let virtio, let cutter = try? PacketCutter(packet, virtio: virtio), packet.count <= segment.count else {
            // A packet that nobody understands is what people look for in a capture.
            return try append(packet, time)
        }
        for index in 0..<cutter.segmentCount {
            var buffer = segment
            segment = []
            var space = buffer.mutableSpan
            let length = cutter.write(index, of: packet, into: &space)
            defer { segment = buffer }
            try append(buffer.span.extracting(0..<length), time)
        }
    }

    /// Records a packet that was written from a header and runs of a pool; the header begins with a virtio
    /// header if the queue has one.
    public mutating func record(
        header: Span<UInt8>, payload: ByteRuns, pool: borrowing BufferPool, hasVirtioHeader: Bool, at time: UnixTime
    ) throws(CaptureError) {
        let start = hasVirtioHeader ? VirtioHeader.length : 0
        guard header.count >= start else { return }
        var packet = gathered
        gathered = []
        packet.removeAll(keepingCapacity: true)
        packet.append(copying: header.extracting(start..<header.count))
        for index in 0..<payload.runCount { pool.withBytes(payload[index]) { packet.append(copying: $0) } }
        defer { gathered = packet }
        let virtio = hasVirtioHeader ? try? VirtioHeader.parse(header) : nil
        try record(packet.span, virtio: virtio, at: time)
    }

    /// Hands everything recorded to the kernel.
    public func flush() throws(CaptureError) { try file?.flush() }

    private mutating func append(_ packet: Span<UInt8>, _ time: UnixTime) throws(CaptureError) {
        if let passes = filter?.passes(packet), !passes {
            passedOver += 1
            return
        }
        if file?.isFull(for: packet.count, limit: settings.fileSize) ?? false { try turnOver() }
        file?.append(packet, at: time)
        recorded += 1
    }

    /// Closes the full file, moves each file one number on, and begins a new one; the oldest goes away.
    private mutating func turnOver() throws(CaptureError) {
        try file?.flush()
        file = nil
        for number in stride(from: settings.fileCount - 1, to: 0, by: -1) {
            let from = number == 1 ? settings.path : "\(settings.path).\(number - 1)"
            guard unsafe rename(from, "\(settings.path).\(number)") != 0 else { continue }
            let reason = errno
            // At first there are fewer files than there may be.
            if reason != ENOENT { throw .file(path: from, reason: CaptureFile.text(of: reason)) }
        }
        file = try CaptureFile(settings)
    }
}
