/// What an epoll event is about, in the 64 bits that the kernel keeps for us.
///
/// The handle's generation is in the token, so an event for a descriptor that was closed in the same turn is
/// recognised as stale.

import Bytes

enum Token {
    /// The packet queue of the TUN device.
    case tunnel
    /// The worker's mailbox has something.
    case mailbox
    /// A listener has a connection; the index is the worker's listener.
    case listener(Int)
    /// The client's socket of a SOCKS5 or HTTP flow.
    case client(index: UInt32, generation: UInt32)
    /// The upstream's socket of a flow, or one attempt of its dial.
    case upstream(index: UInt32, generation: UInt32, slot: Int)
    /// The socket of a flow of datagrams.
    case datagram(index: UInt32, generation: UInt32)

    private static let tunnelTag: UInt64 = 0xff << 56
    private static let mailboxTag: UInt64 = 0xfe << 56
    private static let listenerTag: UInt64 = 0xfd << 56
    private static let clientTag: UInt64 = 0xfc << 56
    private static let datagramTag: UInt64 = 0xfb << 56

    var rawValue: UInt64 {
        switch self {
        case .tunnel: Self.tunnelTag
        case .mailbox: Self.mailboxTag
        case .listener(let index): Self.listenerTag | UInt64(index)
        case .client(let index, let generation): Self.clientTag | Self.pack(index, generation)
        case .datagram(let index, let generation): Self.datagramTag | Self.pack(index, generation)
        case .upstream(let index, let generation, let slot): UInt64(slot) << 56 | Self.pack(index, generation)
        }
    }

    init(rawValue: UInt64) {
        let index = UInt32(truncatingIfNeeded: rawValue)
        let generation = UInt32(truncatingIfNeeded: rawValue >> 32) & 0xff_ffff
        switch rawValue & 0xff << 56 {
        case Self.tunnelTag: self = .tunnel
        case Self.mailboxTag: self = .mailbox
        case Self.listenerTag: self = .listener(Int(index))
        case Self.clientTag: self = .client(index: index, generation: generation)
        case Self.datagramTag: self = .datagram(index: index, generation: generation)
        default: self = .upstream(index: index, generation: generation, slot: Int(rawValue >> 56))
        }
    }

    /// The index and the low 24 bits of the generation: a place would have to be used 8 million times
    /// within one loop turn for two of them to be confused.
    private static func pack(_ index: UInt32, _ generation: UInt32) -> UInt64 {
        UInt64(generation & 0xff_ffff) << 32 | UInt64(index)
    }
}

extension Handle {
    /// Whether an event's generation is this handle's.
    func matches(generation other: UInt32) -> Bool { generation & 0xff_ffff == other & 0xff_ffff }
}
