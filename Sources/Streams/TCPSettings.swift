/// What an endpoint is given at its start.

public import Bytes

/// The family of the addresses under a stream: it decides how long the headers are.
public enum AddressFamily: Sendable {
    case ipv4
    case ipv6

    /// The octets of an IP header and a TCP header without options.
    public var headerLength: Int {
        switch self {
        case .ipv4: 40
        case .ipv6: 60
        }
    }

    /// The MSS of a peer that announces none (RFC 9293, section 3.7.1).
    var defaultSegmentSize: Int {
        switch self {
        case .ipv4: 536
        case .ipv6: 1220
        }
    }

    /// The least path MTU that an ICMP error is believed about.
    ///
    /// For IPv6 it is the protocol's own minimum; for IPv4 a link below 552 is more likely an attack
    /// (RFC 5927, section 7.2).
    var leastPathMTU: Int {
        switch self {
        case .ipv4: 552
        case .ipv6: 1280
        }
    }
}

/// The limits and times of every endpoint, from the configuration.
public struct TCPSettings: Sendable {
    /// The interface's MTU: what is announced and what is sent stay below it.
    public var interfaceMTU = 1500

    /// The octets that a client may have under way when the stream begins; it grows with the stream.
    public var initialReceiveAllowance = 256 << 10
    /// The most that it grows to.
    public var receiveAllowance = 4 << 20
    /// The most that waits for the client's acknowledgement.
    public var sendAllowance = 4 << 20
    /// How many separate stretches of out-of-order octets are kept.
    public var reassemblyRanges = 256

    /// How long a delayed acknowledgement waits for company (RFC 9293, section 3.8.6.3, allows 500 ms).
    public var acknowledgementDelay = Interval.milliseconds(40)
    /// The waits before a SYN-ACK is sent again, eight at most, and how many there are.
    private var synAcknowledgementWaits = InlineArray<8, Interval> { .seconds(1 << Int64($0)) }
    private(set) var synAcknowledgementRetries = 4
    /// How long the client may fail to acknowledge anything (R2 in RFC 9293, section 3.8.3: 100 s at least).
    public var giveUpAfter = Interval.seconds(300)
    /// The silence after which the client is asked whether it is still there (RFC 9293, section 3.8.4).
    public var keepaliveIdle = Interval.hours(2)
    public var keepaliveInterval = Interval.seconds(75)
    public var keepaliveProbes = 9
    /// How long TIME-WAIT lasts.
    public var timeWait = Interval.seconds(10)
    /// How many challenge ACKs a stream sends in a second (RFC 5961, section 7).
    public var challengesPerSecond = 10

    public init() {}

    /// Sets the waits before a SYN-ACK is sent again; at most eight are taken.
    public mutating func retrySYNAcknowledgement(after waits: [Interval]) {
        synAcknowledgementRetries = min(waits.count, synAcknowledgementWaits.count)
        for index in 0..<synAcknowledgementRetries { synAcknowledgementWaits[index] = waits[index] }
    }

    /// How long a SYN-ACK that was sent again `count` times waits for an answer; the last one twice as long as the one
    /// before.
    func synAcknowledgementWait(after count: Int) -> Interval {
        if count < synAcknowledgementRetries { return synAcknowledgementWaits[count] }
        return synAcknowledgementRetries == 0 ? .seconds(1) : synAcknowledgementWaits[synAcknowledgementRetries - 1] * 2
    }

    /// What is announced in the MSS option (RFC 9293, section 3.7.1).
    public func announcedSegmentSize(_ family: AddressFamily) -> UInt16 {
        UInt16(clamping: interfaceMTU - family.headerLength)
    }

    /// The shift that lets the window field cover the whole allowance (RFC 7323, section 2.3).
    public var windowShift: UInt8 {
        var shift: UInt8 = 0
        while shift < 14, receiveAllowance > 0xffff << Int(shift) { shift += 1 }
        return shift
    }
}
