/// Which octets are lost: `TCPEndpoint+Acknowledge` tells it what has arrived; `SendScoreboard` gives up what it says.

import Bytes
import Wire

/// Loss detection by time: what was sent some time before something that has arrived is lost (RFC 8985).
///
/// The names of RFC 8985 are in the comments. The tail loss probe (section 7) is in `TCPEndpoint+Timers`, its
/// accounting here.
struct RACK {
    /// RACK.xmit_ts and RACK.end_seq: the latest transmission that has arrived.
    private(set) var newest = Instant(nanoseconds: .min)
    private(set) var newestEnd = SequenceNumber(0)
    /// RACK.rtt: how long that one took.
    private(set) var roundTrip = Interval.zero

    /// RACK.reordering_seen.
    var sawReordering = false
    /// RACK.reo_wnd_mult: quarters of the least round trip; every round with a DSACK adds one.
    @Compact private(set) var multiplier = 1
    /// RACK.reo_wnd_persist: recoveries until the multiplier falls back.
    @Compact private var persistence = 0
    /// RACK.dsack_round: SND.NXT when the multiplier last grew.
    private var growthRound: SequenceNumber?

    /// TLP.end_seq: SND.NXT when the probe under way was sent.
    var probeEnd: SequenceNumber?
    /// TLP.is_retrans.
    var probeWasRetransmission = false

    /// Step 2: takes account of what was delivered.
    mutating func update(_ delivery: Delivery) {
        guard let sentAt = delivery.newestSentAt else { return }
        roundTrip = delivery.now - sentAt
        if sentAt > newest || sentAt == newest && delivery.newestEnd > newestEnd {
            newest = sentAt
            newestEnd = delivery.newestEnd
        }
    }

    /// Step 4: how long to wait for stragglers.
    func reorderingWindow(_ time: RoundTripTime, manySACKed: Bool, inRecovery: Bool) -> Interval {
        if !sawReordering, manySACKed || inRecovery { return .zero }
        return min(time.least / 4 * Int64(multiplier), time.smoothed)
    }

    /// A duplicate was reported: octets were given up too early.
    mutating func sawDuplicate(acknowledged: SequenceNumber, next: SequenceNumber) {
        if let round = growthRound, acknowledged < round { return }
        growthRound = next
        multiplier = min(multiplier + 1, 255)
        persistence = 16
    }

    /// A recovery ended; without further DSACKs the window shrinks again after sixteen of them.
    mutating func endRecovery() {
        guard persistence > 0 else { return }
        persistence -= 1
        if persistence == 0 {
            multiplier = 1
            growthRound = nil
        }
    }
}
