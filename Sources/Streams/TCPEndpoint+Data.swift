/// Segments with octets: what was lost, what is new, and probes.
import Bytes
import Wire

extension TCPEndpoint {
    /// Lost octets before new ones, as far as the windows let them (RFC 6675, section 5, NextSeg).
    mutating func nextData(now: Instant, maximumPayload: Int, moreFollows: Bool) -> Plan? {
        guard scoreboard.lost > 0 || unsent > 0 || finIsUnsent else { return nil }
        let size = sizeWithBlocks
        let most = max(maximumPayload - (segmentSize - size), size)
        if let index = scoreboard.firstLost() {
            return retransmission(index, size: size, most: most, now: now)
        }
        return newData(size: size, most: most, moreFollows: moreFollows, now: now)
    }

    @inline(__always) private var finIsUnsent: Bool {
        guard isFinishing else { return false }
        switch phase {
        case .finWait1, .closing, .lastAck: return sendNext == ownFIN
        case .dialling, .synReceived, .established, .closeWait, .finWait2, .timeWait, .closed: return false
        }
    }

    /// What the congestion window leaves of the octets that are wanted: all of them, or whole segments.
    @inline(__always) private func congestionRoom(size: Int, wanted: Int) -> Int {
        let room = congestion.window - inFlight
        if wanted <= room { return wanted }
        if room >= size { return room - room % size }
        // Half a segment or more is rounded up: octets and segments don't fall together exactly in a recovery.
        return room * 2 > size || inFlight == 0 ? size : 0
    }

    private mutating func retransmission(
        _ index: Int, size: Int, most: Int, now: Instant
    ) -> Plan? {
        let record = scoreboard.records[index]
        let edge = sendUnacknowledged + sendWindow
        let room = congestionRoom(size: size, wanted: record.octets)
        guard room > 0, record.start < edge else { return nil }
        var octets = min(record.octets, room, most, edge - record.start)
        if octets < record.octets, octets > size { octets -= octets % size }
        return resend(index, octets: octets, size: size, now: now)
    }

    /// Sends the first octets of a record again.
    private mutating func resend(
        _ index: Int, octets: Int, size: Int, now: Instant
    ) -> Plan {
        let start = scoreboard.records[index].start
        if scoreboard.headSentAt != nil, start == sendUnacknowledged { lossTimer.base = now }
        scoreboard.retransmit(index, octets: octets, at: now)
        recovery.retransmitted(octets, stamp: stamp(now))
        rate.sent(octets)
        accounts.retransmitted += UInt64(octets)
        armLossTimer(now)
        return plan(start, octets: octets, size: size)
    }

    private mutating func newData(
        size: Int, most: Int, moreFollows: Bool, now: Instant
    ) -> Plan? {
        let unsent = unsent
        if moreFollows, unsent < most { return nil }
        let windowRoom = sendUnacknowledged + sendWindow - sendNext
        if scoreboard.isEmpty { resumeAfterIdle(now) }
        let room = congestionRoom(size: size, wanted: max(unsent, 1))
        var octets = min(unsent, max(windowRoom, 0), room, most)
        if octets < unsent {
            octets = withoutSilliness(octets, size: size, windowRoom: windowRoom)
            if octets == 0 || octets < min(most, windowRoom), room <= octets { recovery.limit() }
            if octets > 0, waitsForMore(octets, room: room, windowRoom: windowRoom, most: most, now: now) { return nil }
            guard octets > 0 else {
                armLossTimer(now)
                return nil
            }
        }
        let withFIN = finIsAfter(octets)
        guard octets > 0 || withFIN, unsent == 0 || room > 0 else { return nil }
        let start = sendNext
        let length = octets + (withFIN ? 1 : 0)
        if scoreboard.isEmpty { lossTimer.begin(at: now) }
        scoreboard.send(start, start + length, at: now)
        sendNext += length
        rate.sent(length)
        recovery.sent(inFlight: inFlight)
        lossTimer.tailBase = now
        accounts.sent += UInt64(octets)
        armLossTimer(now)
        return plan(start, octets: length, size: size)
    }

    @inline(__always) private func finIsAfter(_ octets: Int) -> Bool {
        guard isFinishing, sendNext + octets == ownFIN else { return false }
        switch phase {
        case .finWait1, .closing, .lastAck: return true
        case .dialling, .synReceived, .established, .closeWait, .finWait2, .timeWait, .closed: return false
        }
    }

    /// Silly window avoidance (RFC 9293, section 3.8.6.2.1): a part of what waits goes in whole segments, or when it
    /// is half of the largest window that this client ever had.
    @inline(__always) private func withoutSilliness(_ octets: Int, size: Int, windowRoom: Int) -> Int {
        if octets >= size { return octets - octets % size }
        return octets == windowRoom && octets >= max(largestSendWindow / 2, 1) ? octets : 0
    }

    /// Whether to wait for the next acknowledgement, so that a larger super-segment goes out.
    ///
    /// What is worth waiting for is what the stream sends in a millisecond; a third of the window goes at once.
    @inline(__always) private func waitsForMore(_ octets: Int, room: Int, windowRoom: Int, most: Int, now: Instant)
        -> Bool
    {
        guard recovery.state == .open, scoreboard.isClean, !scoreboard.isEmpty, room < most, windowRoom > room
        else { return false }
        let perMillisecond =
            2 * congestion.window / max(Int(truncatingIfNeeded: time.smoothed.microseconds / 1000), 1)
        guard octets < min(most, perMillisecond), octets < min(congestion.window, sendWindow) / 3 else { return false }
        // The acknowledgement must be near, or the wait costs more than it brings.
        guard let sentAt = scoreboard.headSentAt else { return false }
        return now - sentAt > time.smoothed / 2
    }

    /// After an idle time the window is halved for each timeout that passed (RFC 5681, section 4.1).
    private mutating func resumeAfterIdle(_ now: Instant) {
        guard lossTimer.tailBase != .never else { return }
        let idle = now - lossTimer.tailBase
        guard idle > time.timeout else { return }
        let initial = min(10 * segmentSize, max(2 * segmentSize, 14600))
        var left = idle
        var window = congestion.window
        while left > time.timeout, window > initial {
            window = max(window / 2, initial)
            left = left - time.timeout
        }
        if window < congestion.window { congestion.window = window }
        congestion.pause(idle)
    }

    /// The plan of a segment with octets of the queue, or with the FIN behind them.
    @inline(__always) private func plan(_ start: SequenceNumber, octets: Int, size: Int) -> Plan {
        let offset = start - sendUnacknowledged
        let count = min(octets, sendQueue.count - offset)
        var flags: TCPFlags = .acknowledge
        if count < octets { flags.insert(.fin) }
        if count > 0, offset + count == sendQueue.count { flags.insert(.push) }
        return Plan(sequence: start, flags: flags, offset: offset, count: count, size: size)
    }

    // MARK: Probes

    /// A probe that a timer asked for.
    mutating func probe(now: Instant) -> Plan? {
        if due.contains(.windowProbe) {
            due.remove(.windowProbe)
            return windowProbe(now: now)
        }
        guard due.contains(.tailProbe) else { return nil }
        due.remove(.tailProbe)
        return tailProbe(now: now)
    }

    /// One octet into a closed window, or what fits into one that is too small to bother with otherwise.
    private mutating func windowProbe(now: Instant) -> Plan? {
        if !scoreboard.isEmpty {
            let index = scoreboard.indices.lowerBound
            guard scoreboard.records[index].state != .sacked else { return nil }
            return resend(index, octets: 1, size: segmentSize, now: now)
        }
        guard unsent > 0 || finIsUnsent else { return nil }
        let octets = min(max(sendWindow, 1), segmentSize, max(unsent, 1))
        let start = sendNext
        scoreboard.send(start, start + octets, at: now)
        sendNext += octets
        accounts.sent += UInt64(min(octets, unsent))
        armLossTimer(now)
        return plan(start, octets: octets, size: segmentSize)
    }

    /// New octets if there are any, else the last segment again (RFC 8985, section 7.3).
    private mutating func tailProbe(now: Instant) -> Plan? {
        guard !scoreboard.isEmpty, rack.probeEnd == nil else { return nil }
        let size = sizeWithBlocks
        let windowRoom = sendUnacknowledged + sendWindow - sendNext
        let octets = min(unsent, size, windowRoom)
        lossTimer.base = now
        if octets > 0, octets == min(unsent, size) {
            let start = sendNext
            let length = octets + (finIsAfter(octets) ? 1 : 0)
            scoreboard.send(start, start + length, at: now)
            sendNext += length
            accounts.sent += UInt64(octets)
            rack.probeWasRetransmission = false
            rack.probeEnd = sendNext
            armLossTimer(now)
            return plan(start, octets: length, size: size)
        }
        let index = scoreboard.splitTail(octets: size)
        rack.probeWasRetransmission = true
        rack.probeEnd = sendNext
        return resend(index, octets: scoreboard.records[index].octets, size: size, now: now)
    }
}
