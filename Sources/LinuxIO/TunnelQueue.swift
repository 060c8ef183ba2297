/// One queue of a TUN device: a system call a packet, whatever its size.

public import Bytes
internal import Glibc

/// What a read of the device brought.
public enum TunnelRead: Equatable, Sendable {
    /// A packet, with its virtio-net header if the queue has one, in the first bytes of the buffer.
    case packet(Int)
    /// No packet waits.
    case nothing
    /// The device was removed: this queue brings nothing any more.
    case gone
    case failed(ErrorNumber)
}

/// What became of a packet that was written.
public enum TunnelWrite: Equatable, Sendable {
    case written
    /// The device takes no packet at the moment (EAGAIN, ENOBUFS, ENOMEM); later ones may pass.
    case full
    /// The kernel refuses this packet (EINVAL), or every packet while the interface is down (EIO); the
    /// packet is dropped, the queue stays good.
    case refused(ErrorNumber)
    /// The device was removed.
    case gone
}

/// A queue of a TUN device; one worker reads and writes it.
public struct TunnelQueue: ~Copyable, Sendable {
    /// The length of `virtio_net_hdr_v1` (Virtio 1.2, section 5.1.6).
    public static let virtioHeaderLength = 12

    public let descriptor: OwnedDescriptor

    /// Whether each packet has a virtio-net header before it, both ways.
    public let hasVirtioHeader: Bool

    /// Takes over an open queue.
    ///
    /// Any descriptor that keeps message boundaries can stand in for it.
    public init(descriptor: consuming OwnedDescriptor, hasVirtioHeader: Bool) {
        self.descriptor = descriptor
        self.hasVirtioHeader = hasVirtioHeader
    }

    /// Reads one packet into the buffer.
    public func read(into buffer: inout PacketBuffer) -> TunnelRead {
        let count = unsafe buffer.storage.withUnsafeMutableBytes { bytes in
            retrying { unsafe Glibc.read(descriptor.number, bytes.baseAddress, bytes.count) }
        }
        if count > 0 { return .packet(count) }
        switch CInt(-count) {
        case 0, EAGAIN: return .nothing
        case let reason where Self.meansGone(reason): return .gone
        case let reason: return .failed(ErrorNumber(rawValue: reason))
        }
    }

    /// Writes one packet: its headers, then the runs of its payload.
    ///
    /// `header` begins with the virtio-net header if the queue has one.
    public func write(header: Span<UInt8>, payload: ByteRuns, pool: borrowing BufferPool) -> TunnelWrite {
        let count = unsafe withSystemVectors(header: header, payload, pool) { vectors, count in
            retrying { unsafe writev(descriptor.number, vectors, count) }
        }
        return Self.outcome(count)
    }

    /// Writes one packet that lies in one piece.
    public func write(_ packet: Span<UInt8>) -> TunnelWrite {
        let count = unsafe packet.withUnsafeBufferPointer { bytes in
            retrying { unsafe Glibc.write(descriptor.number, bytes.baseAddress, bytes.count) }
        }
        return Self.outcome(count)
    }

    private static func outcome(_ count: Int) -> TunnelWrite {
        if count >= 0 { return .written }
        switch CInt(-count) {
        case EAGAIN, ENOBUFS, ENOMEM: return .full
        case let reason where meansGone(reason): return .gone
        case let reason: return .refused(ErrorNumber(rawValue: reason))
        }
    }

    private static func meansGone(_ reason: CInt) -> Bool {
        reason == EBADFD || reason == EBADF || reason == ENODEV
    }
}
