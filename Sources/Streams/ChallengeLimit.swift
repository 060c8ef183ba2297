/// The bound on challenge ACKs, asked by `TCPEndpoint+Receive` before each of them.

import Bytes

/// A bound on answers to segments that look forged or misplaced (RFC 5961, section 7).
///
/// Without it two confused peers answer each other's answers for ever. It is a bound per stream, so that what one
/// stream answers tells nothing about another.
struct ChallengeLimit {
    private var second: Int64 = .min
    @Compact private var used = 0

    /// Whether one more answer is allowed now.
    mutating func allows(_ perSecond: Int, now: Instant) -> Bool {
        let current = now.nanoseconds / 1_000_000_000
        if current != second {
            second = current
            used = 0
        }
        guard used < perSecond else { return false }
        used += 1
        return true
    }
}
