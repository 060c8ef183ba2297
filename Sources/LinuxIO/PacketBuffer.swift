/// Where packets of the TUN device are read into.

/// One read's worth of memory, allocated once and used again for each packet.
public struct PacketBuffer: ~Copyable, Sendable {
    /// The longest IP packet (RFC 791, section 3.1), and with headroom for a virtio-net and a link header.
    public static let capacity = 65_535 + 12 + 18

    /// The bytes; `TunnelQueue.read` says how many of them the last packet takes.
    public internal(set) var storage: [UInt8]

    /// A buffer without memory, to hold the place of one that is in use.
    public static var empty: PacketBuffer { PacketBuffer(storage: []) }

    private init(storage: [UInt8]) { self.storage = storage }

    public init() {
        storage = [UInt8](repeating: 0, count: Self.capacity)
    }
}
