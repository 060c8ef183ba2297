/// Proportional rate reduction: how much may be sent for what arrives during a recovery (RFC 9937).
///
/// The window goes down to the threshold in step with the acknowledgements, so that a recovery neither stops
/// the stream nor bursts.
struct ProportionalRate {
    /// prr_delivered: octets that arrived since the recovery began.
    @Compact private var delivered = 0
    /// prr_out: octets sent since, new ones and retransmissions.
    @Compact private var out = 0
    /// The window when the recovery began.
    @Compact private var before = 1

    mutating func begin(window: Int) {
        delivered = 0
        out = 0
        before = max(window, 1)
    }

    mutating func sent(_ octets: Int) { out += octets }

    /// The congestion window after an acknowledgement.
    ///
    /// `safe` says that SND.UNA advanced and nothing more was given up (SafeACK).
    mutating func window(
        delivered octets: Int, inFlight: Int, threshold: Int, segmentSize: Int, safe: Bool
    ) -> Int {
        delivered += octets
        var count: Int
        if inFlight > threshold {
            count = (threshold * delivered + before - 1) / before - out
        } else {
            count = max(delivered - out, octets)
            if safe { count += segmentSize }
            count = min(threshold - inFlight, count)
        }
        // The first retransmission goes out at once.
        count = max(count, out == 0 ? segmentSize : 0)
        return inFlight + count
    }
}
