/// What becomes of UDP from the tunnel.

public import Addresses
public import Bytes
import Flows
import Wire

/// Which datagrams are carried, how, and how many flows of them there may be.
public struct DatagramSettings: Sendable {
    /// The ports that are carried directly whatever the policy: NTP, and IKE with its NAT traversal (Wi-Fi calling).
    public var directPorts: Set<UInt16> = [123, 500, 4500]
    /// Where the gateway's own DNS service listens; nil when it has none.
    public var service: SocketAddress?

    /// Flows of one device; DNS has as many again.
    public var flowsPerDevice = 64
    /// Flows of all devices.
    public var flows = 2048
    /// How long a flow lives without a datagram.
    public var idle = Interval.seconds(30)
    /// How long an answer of the DNS service is waited for.
    public var serviceIdle = Interval.seconds(10)
    /// Octets of datagrams that wait for fragments, for the whole gateway, and how long they may.
    public var fragmentMemory = 1 << 20
    public var fragmentTime = Interval.seconds(30)
    /// The directed broadcast addresses of the tunnel's networks, about which no error is sent.
    public var broadcasts: [IPAddress] = []
    /// What decides instead of the policy, if anything does.
    var decides: (@Sendable (FlowKey) -> DatagramDecision)?

    public init() {}
}

/// What becomes of a datagram that belongs to no flow.
enum DatagramDecision: Equatable, Sendable {
    /// Port unreachable, from the original destination.
    case reject
    /// It goes to this target; a name is resolved by us first.
    case direct(to: Target)
    /// It goes to the gateway's own DNS service.
    case service
}
