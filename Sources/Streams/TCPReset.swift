/// What segments get that belong to no endpoint and no `TimeWaitRecord`.

public import Wire

/// The answer to a segment of a stream that does not exist (RFC 9293, section 3.10.7.1).
public enum TCPReset {
    /// The RST, or nil for a RST.
    public static func answering(_ segment: TCPSegment) -> TCPSegment? {
        if segment.flags.contains(.reset) { return nil }
        if segment.flags.contains(.acknowledge) {
            return TCPSegment(sequence: segment.acknowledgement, flags: .reset)
        }
        return TCPSegment(
            sequence: SequenceNumber(0), acknowledgement: segment.sequence + segment.length,
            flags: [.reset, .acknowledge])
    }
}
