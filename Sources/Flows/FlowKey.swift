/// # Flows: which flow a packet belongs to, and when each is due
///
/// A packet's addresses and ports make a `FlowKey`; `FlowTable` turns it into the handle of a flow.
/// `TimerWheel` says whose time has come. What a flow leaves behind for a while (TIME-WAIT, a reset) is a small
/// record in a `LingerTable`. `Fragments` puts datagrams together again, and `RateLimiter` bounds what a device
/// can make the gateway send.
///
/// All of them are owned by one worker and bounded: nothing that arrives can make them grow without end.

public import Addresses

/// The two ends of a flow: the client in front of the tunnel and the target it asked for.
///
/// It is kept as words, 36 bytes, so comparing and hashing are a few instructions.
public struct FlowKey: Hashable, Sendable {
    @usableFromInline let clientHigh: UInt64
    @usableFromInline let clientLow: UInt64
    @usableFromInline let targetHigh: UInt64
    @usableFromInline let targetLow: UInt64
    /// The client's port in the high half.
    @usableFromInline let ports: UInt32

    public init(client: SocketAddress, target: SocketAddress) {
        clientHigh = client.address.high
        clientLow = client.address.low
        targetHigh = target.address.high
        targetLow = target.address.low
        ports = UInt32(client.port) << 16 | UInt32(target.port)
    }

    /// The key of nothing: what free slots hold.
    static let none = FlowKey(
        client: SocketAddress(IPAddress(high: 0, low: 0), 0), target: SocketAddress(IPAddress(high: 0, low: 0), 0))

    public var client: SocketAddress {
        SocketAddress(IPAddress(high: clientHigh, low: clientLow), UInt16(ports >> 16))
    }

    public var target: SocketAddress {
        SocketAddress(IPAddress(high: targetHigh, low: targetLow), UInt16(truncatingIfNeeded: ports))
    }

    @inlinable public static func == (left: FlowKey, right: FlowKey) -> Bool {
        // One branch: the words nearly always all match or the first difference is not worth a jump.
        (left.clientHigh ^ right.clientHigh) | (left.clientLow ^ right.clientLow)
            | (left.targetHigh ^ right.targetHigh) | (left.targetLow ^ right.targetLow)
            | UInt64(left.ports ^ right.ports) == 0
    }
}
