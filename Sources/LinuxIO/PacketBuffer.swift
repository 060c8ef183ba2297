/// Where packets of the TUN device are read into.

/// One read's worth of memory, allocated once and used again for each packet.
public struct PacketBuffer: ~Copyable, Sendable {
    /// The longest IP packet (RFC 791, section 3.1), and with headroom for a virtio-net and a link header.
    public static let capacity = 65_535 + 12 + 18

    /// The bytes; `TunnelQueue.read` says how many of them the last packet takes.
    public internal(set) var storage: [UInt8]

    public init() {
        storage = [UInt8](repeating: 0, count: Self.capacity)
    }
}
