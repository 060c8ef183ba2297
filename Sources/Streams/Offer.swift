/// What is kept of a client's SYNs until the SYN-ACK answers them (`TCPEndpoint+Handshake`).

import Wire

/// What a client offers in its SYN, as far as every SYN of the attempt offered it.
///
/// Clients that get no answer leave options out, because a middlebox may have disliked them; a SYN-ACK that
/// offers what the last SYN did not is refused by some.
struct Offer {
    /// The least MSS that was announced, or nil when a SYN announced none.
    var segmentSize: Int? { storedSize.map { Int($0) } }
    private var storedSize: UInt16?
    private(set) var windowShift: UInt8?
    private(set) var selectiveAcknowledgements: Bool
    private(set) var timestamps: Bool
    /// The latest TSval: an older one would ruin the client's measure of the round trip.
    private(set) var timestamp: UInt32

    init(_ options: TCPOptions) {
        storedSize = options.maximumSegmentSize
        // A shift above 14 counts as 14 (RFC 7323, section 2.3).
        windowShift = options.windowScale.map { min($0, 14) }
        selectiveAcknowledgements = options.selectiveAcknowledgementPermitted
        timestamps = options.timestamps != nil
        timestamp = options.timestamps?.value ?? 0
    }

    /// Takes account of one more SYN of the attempt.
    mutating func join(_ options: TCPOptions) {
        let other = Offer(options)
        if let mine = storedSize, let its = other.storedSize {
            storedSize = min(mine, its)
        } else {
            storedSize = nil
        }
        if other.windowShift == nil { windowShift = nil }
        selectiveAcknowledgements = selectiveAcknowledgements && other.selectiveAcknowledgements
        timestamps = timestamps && other.timestamps
        timestamp = other.timestamp
    }
}
