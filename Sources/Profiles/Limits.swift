/// Bounds and times, with the defaults of the design.

public import Bytes

/// Every number that may be set.
public struct Limits: Equatable, Sendable {
    /// How long one TCP connection to an upstream may take to open.
    public var dial = Interval.seconds(5)
    /// How long opening a stream through the upstream may take in all.
    public var connect = Interval.seconds(20)
    /// How long one address of an upstream is tried before the next one joins (RFC 8305, section 5).
    public var attemptDelay = Interval.milliseconds(250)
    /// Flows that are dialling or in SYN-RECEIVED, in all; beyond it SYN cookies.
    public var halfOpen = 2048
    /// The same, for one device; beyond it that device's oldest gives way.
    public var halfOpenPerDevice = 512
    /// Flows in all; beyond it the one that has been idle for longest gives way, and where none has been idle for a
    /// minute the newcomer gets RST.
    public var flows = 65536
    /// The same, for one device.
    public var flowsPerDevice = 16384
    /// The waits before each repetition of a SYN-ACK.
    public var synAck = [Interval.seconds(1), .seconds(2), .seconds(4), .seconds(8)]
    public var timeWait = Interval.seconds(10)
    /// How long a half-closed stream may go without a byte in the open direction, and how long a FIN is held.
    public var halfClose = Interval.seconds(60)
    /// How long an open stream may go without a byte.
    public var idle = Interval.hours(24)
    /// The silence after which the device is probed; never short, for its battery.
    public var keepaliveClient = Interval.hours(2)
    /// The silence after which the upstream is probed.
    public var keepaliveUpstream = Interval.seconds(60)
    /// Octets that wait in the gateway, in all; nil: the smaller of 256 MiB and a quarter of the memory.
    public var buffers: Int?
    /// Octets that wait in one flow, for each direction.
    public var flowBuffer = 4 << 20
    /// ICMP errors for one device in a second.
    public var icmpErrors = 50
    /// UDP flows of one device, and as many more to port 53; what is beyond them is refused.
    public var udpFlows = 64
    /// UDP flows in all; what is beyond them is refused.
    public var udpFlowsInAll = 2048
    /// How long a UDP flow may go without a datagram.
    public var udpIdle = Interval.seconds(30)
    /// The same, for a flow to port 53.
    public var dnsIdle = Interval.seconds(10)
    /// Octets of a client that are read for a name.
    public var sniffBytes = 8 << 10
    /// How long is waited for them.
    public var sniffTime = Interval.milliseconds(300)
    /// The TCP ports on which a name is looked for.
    public var sniffPorts: [UInt16] = [80, 443, 8080, 8443]
    /// Names for which one device holds a fake address; beyond it its oldest give way.
    public var fakePerDevice = 8192
    /// Octets of datagrams that wait for their other fragments.
    public var fragments = 1 << 20
    /// How long a datagram may wait for them.
    public var fragmentTime = Interval.seconds(30)
    /// How long credentials that got a 407 rest before one more try.
    public var credentialRetry = Interval.seconds(900)

    public init() {}

    /// The budget for buffers on a machine with this much memory.
    public func bufferBudget(memory: Int) -> Int {
        buffers ?? min(256 << 20, memory / 4)
    }
}
