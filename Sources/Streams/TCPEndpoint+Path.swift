/// The path's MTU, as routers tell it (RFC 1191, RFC 8201).
import Bytes
public import Wire

extension TCPEndpoint {
    /// A router says that the path carries packets of at most `mtu` octets; returns whether that was believed.
    ///
    /// Only an error about octets that are under way is (RFC 5927, section 4.1). What was too long is sent again at
    /// once, and the congestion window stays: nothing was lost to congestion.
    public mutating func pathMTU(loweredTo mtu: Int, quotedSequence: SequenceNumber) -> Bool {
        guard !scoreboard.isEmpty, quotedSequence >= sendUnacknowledged, quotedSequence < sendNext else { return false }
        let limit = max(mtu, family.leastPathMTU) - family.headerLength
        guard limit < segmentLimit else { return false }
        segmentLimit = limit
        scoreboard.giveUpAll(longerThan: segmentSize)
        if recovery.state == .open, scoreboard.lost > 0 {
            recovery.begin(.repair, from: sendUnacknowledged, to: sendNext, memory: nil)
        }
        return true
    }
}
