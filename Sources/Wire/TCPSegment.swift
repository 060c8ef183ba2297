/// A TCP segment's header as a value (RFC 9293, section 3.1). Its payload travels beside it, as a span or as
/// the number of octets.

/// The control bits (RFC 9293, section 3.1; ECE and CWR by RFC 3168).
public struct TCPFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let fin = TCPFlags(rawValue: 0x01)
    public static let syn = TCPFlags(rawValue: 0x02)
    public static let reset = TCPFlags(rawValue: 0x04)
    public static let push = TCPFlags(rawValue: 0x08)
    public static let acknowledge = TCPFlags(rawValue: 0x10)
    public static let urgent = TCPFlags(rawValue: 0x20)
    public static let ecnEcho = TCPFlags(rawValue: 0x40)
    public static let congestionWindowReduced = TCPFlags(rawValue: 0x80)
}

/// The timestamps option (RFC 7323, section 3.2).
public struct TCPTimestamps: Hashable, Sendable {
    /// TSval: the sender's clock.
    public var value: UInt32
    /// TSecr: the peer's clock as last seen; meaningful with ACK only.
    public var echo: UInt32

    @inlinable public init(value: UInt32, echo: UInt32) {
        self.value = value
        self.echo = echo
    }
}

/// A block of the SACK option: `start ..< end` has arrived (RFC 2018, section 3).
public struct SACKBlock: Hashable, Sendable {
    public var start: SequenceNumber
    public var end: SequenceNumber

    @inlinable public init(_ start: SequenceNumber, _ end: SequenceNumber) {
        self.start = start
        self.end = end
    }
}

/// Up to four blocks of a SACK option, in the order of the wire.
public struct SACKBlocks: Hashable, Sendable {
    public static let capacity = 4

    public private(set) var count = 0
    @usableFromInline var first = SACKBlock(SequenceNumber(0), SequenceNumber(0))
    @usableFromInline var second = SACKBlock(SequenceNumber(0), SequenceNumber(0))
    @usableFromInline var third = SACKBlock(SequenceNumber(0), SequenceNumber(0))
    @usableFromInline var fourth = SACKBlock(SequenceNumber(0), SequenceNumber(0))

    @inlinable public init() {}

    @inlinable public var isEmpty: Bool { count == 0 }

    /// Adds a block; a fifth one is left out.
    public mutating func append(_ block: SACKBlock) {
        switch count {
        case 0: first = block
        case 1: second = block
        case 2: third = block
        case 3: fourth = block
        default: return
        }
        count += 1
    }

    public subscript(_ index: Int) -> SACKBlock {
        precondition(index >= 0 && index < count, "no such block")
        switch index {
        case 0: return first
        case 1: return second
        case 2: return third
        default: return fourth
        }
    }
}

/// The options that the gateway understands; all others are passed over when read and never written.
public struct TCPOptions: Hashable, Sendable {
    /// MSS (RFC 9293, section 3.7.1); on SYN only.
    public var maximumSegmentSize: UInt16?
    /// The window scale's shift (RFC 7323, section 2.2), as it stands on the wire; on SYN only.
    public var windowScale: UInt8?
    /// SACK-Permitted (RFC 2018, section 2); on SYN only.
    public var selectiveAcknowledgementPermitted: Bool
    public var timestamps: TCPTimestamps?
    public var selectiveAcknowledgements: SACKBlocks

    @inlinable public init(
        maximumSegmentSize: UInt16? = nil, windowScale: UInt8? = nil, selectiveAcknowledgementPermitted: Bool = false,
        timestamps: TCPTimestamps? = nil, selectiveAcknowledgements: SACKBlocks = SACKBlocks()
    ) {
        self.maximumSegmentSize = maximumSegmentSize
        self.windowScale = windowScale
        self.selectiveAcknowledgementPermitted = selectiveAcknowledgementPermitted
        self.timestamps = timestamps
        self.selectiveAcknowledgements = selectiveAcknowledgements
    }
}

/// What a TCP header says.
///
/// Ports are not in it: they belong to the flow's key.
public struct TCPSegment: Hashable, Sendable {
    public var sequence: SequenceNumber
    /// Meaningful with the ACK flag only; 0 otherwise.
    public var acknowledgement: SequenceNumber
    public var flags: TCPFlags
    /// The window field as it stands on the wire, not scaled.
    public var window: UInt16
    public var options: TCPOptions
    /// The octets of payload, without SYN and FIN.
    public var payloadCount: Int

    @inlinable public init(
        sequence: SequenceNumber, acknowledgement: SequenceNumber = SequenceNumber(0), flags: TCPFlags,
        window: UInt16 = 0, options: TCPOptions = TCPOptions(), payloadCount: Int = 0
    ) {
        self.sequence = sequence
        self.acknowledgement = acknowledgement
        self.flags = flags
        self.window = window
        self.options = options
        self.payloadCount = payloadCount
    }

    /// The sequence space that the segment takes: payload, SYN and FIN (SEG.LEN in RFC 9293).
    @inlinable public var length: Int {
        payloadCount + (flags.contains(.syn) ? 1 : 0) + (flags.contains(.fin) ? 1 : 0)
    }
}
