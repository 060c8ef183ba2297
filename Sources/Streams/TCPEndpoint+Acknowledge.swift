/// What an acknowledgement of the client changes: queue, window, round trip, loss, congestion window.
import Bytes
import Wire

extension TCPEndpoint {
    /// Whether the client acknowledges selectively; then RACK finds losses, else duplicate ACKs do (RFC 6582).
    @inline(__always) private var usesSACK: Bool { offer.selectiveAcknowledgements }

    /// The octets in flight, by the best knowledge that there is.
    @inline(__always) var inFlight: Int {
        usesSACK ? scoreboard.outstanding : max(scoreboard.outstanding - recovery.duplicates * segmentSize, 0)
    }

    /// Takes the ACK, window and SACK fields of an acceptable segment.
    mutating func takeAcknowledgement(
        _ segment: TCPSegment, now: Instant, settings: borrowing TCPSettings, pool: inout BufferPool
    ) -> TCPEvents {
        let acknowledgement = segment.acknowledgement
        guard acknowledgement >= sendUnacknowledged else { return [] }
        let advance = acknowledgement - sendUnacknowledged
        let windowChanged = takeWindow(segment, now: now)
        guard !scoreboard.isEmpty else {
            armLossTimer(now)
            return []
        }

        var delivery = Delivery(now: now, leastRoundTrip: time.least, highestSACK: scoreboard.highestSACK)
        var events: TCPEvents = []
        if advance > 0 { events = takeCumulative(acknowledgement, advance, &delivery, settings: settings, pool: &pool) }
        if case .closed = phase { return events }
        let sawDuplicate = takeBlocks(segment, now: now, &delivery)
        if !usesSACK { countDuplicate(segment, advance, windowChanged, &delivery) }
        measure(segment, advance, delivery, now: now)
        endTailProbe(acknowledgement, isPlain: advance == 0 && delivery.octets == 0, sawDuplicate: sawDuplicate)
        let given = detectLoss(delivery, now: now)
        repair(segment, advance, delivery, given: given, now: now)
        armLossTimer(now)
        return events
    }

    /// The window field (RFC 9293, section 3.10.7.4, SND.WL1 and SND.WL2); returns whether it changed.
    private mutating func takeWindow(_ segment: TCPSegment, now: Instant) -> Bool {
        // What acknowledges something new is newer, whatever its sequence number: a client that sends old octets again
        // tells its present window, and the one before would reach too far from here.
        let isNewer =
            segment.acknowledgement > sendUnacknowledged || windowSequence < segment.sequence
            || windowSequence == segment.sequence && windowAcknowledgement <= segment.acknowledgement
        guard isNewer else { return false }
        let old = sendWindow
        sendWindow = scaledWindow(segment)
        largestSendWindow = max(largestSendWindow, sendWindow)
        windowSequence = segment.sequence
        windowAcknowledgement = segment.acknowledgement
        if lossTimer.kind == .persist {
            // Any answer shows that the client lives; probing may go on for ever (RFC 9293, section 3.8.6.1).
            lossTimer.stalledSince = .never
            if sendWindow > 0 { resumeAfterProbes(segment.acknowledgement) }
        }
        return old != sendWindow
    }

    /// The window is open again: what went into the closed one was thrown away, and not by congestion.
    private mutating func resumeAfterProbes(_ acknowledgement: SequenceNumber) {
        guard lossTimer.backOff > 0 else { return }
        lossTimer.backOff = 0
        guard !scoreboard.isEmpty, acknowledgement == sendUnacknowledged, recovery.state == .open else { return }
        scoreboard.giveUpAll()
        recovery.begin(.repair, from: sendUnacknowledged, to: sendNext, memory: nil)
    }

    private mutating func takeCumulative(
        _ acknowledgement: SequenceNumber, _ advance: Int, _ delivery: inout Delivery,
        settings: borrowing TCPSettings, pool: inout BufferPool
    ) -> TCPEvents {
        scoreboard.acknowledge(upTo: acknowledgement, &delivery)
        let octets = min(advance, sendQueue.count)
        sendQueue.removeFirst(octets, in: &pool)
        sendUnacknowledged = acknowledgement
        accounts.acknowledged += UInt64(octets)
        lossTimer.progress(at: delivery.now)
        var events: TCPEvents = octets > 0 ? .acknowledged : []
        guard advance > octets else { return events }
        switch phase {
        case .finWait1: phase = .finWait2
        case .closing:
            enterTimeWait()
            events.insert(.timeWait)
        case .lastAck:
            end(.finished)
            events.insert(.closed)
        case .dialling, .synReceived, .established, .closeWait, .finWait2, .timeWait, .closed: break
        }
        return events
    }

    /// SACK blocks (RFC 2018); returns whether the first one reports a duplicate (RFC 2883, section 4).
    private mutating func takeBlocks(_ segment: TCPSegment, now: Instant, _ delivery: inout Delivery) -> Bool {
        let blocks = segment.options.selectiveAcknowledgements
        guard usesSACK, !blocks.isEmpty else { return false }
        var first = 0
        let duplicate = blocks[0]
        let isInside = blocks.count > 1 && duplicate.start >= blocks[1].start && duplicate.end <= blocks[1].end
        if duplicate.end <= segment.acknowledgement || isInside {
            first = 1
            rack.sawDuplicate(acknowledged: segment.acknowledgement, next: sendNext)
            recovery.reported(duplicate)
        }
        for index in first..<blocks.count {
            let block = blocks[index]
            guard block.start < block.end, block.start > sendUnacknowledged, block.end <= sendNext else { continue }
            scoreboard.acknowledge(block, &delivery)
        }
        return first == 1
    }

    /// Duplicate acknowledgements of a client without SACK (RFC 5681, section 2; RFC 6582).
    private mutating func countDuplicate(
        _ segment: TCPSegment, _ advance: Int, _ windowChanged: Bool, _ delivery: inout Delivery
    ) {
        if advance > 0 {
            recovery.duplicates = 0
            // A partial acknowledgement: the next hole begins right there.
            if recovery.state == .fast, sendUnacknowledged < recovery.point {
                scoreboard.giveUpHead(octets: segmentSize)
            }
        } else if segment.length == 0, !windowChanged {
            recovery.duplicates = min(recovery.duplicates + 1, 1 << 16)
            delivery.octets += min(segmentSize, scoreboard.outstanding)
            if recovery.duplicates == 3, recovery.state == .open { scoreboard.giveUpHead(octets: segmentSize) }
        }
    }

    private mutating func measure(_ segment: TCPSegment, _ advance: Int, _ delivery: Delivery, now: Instant) {
        if let latest = delivery.latest {
            let shortest = now - latest
            time.sampleLeast(shortest, at: now)
            if congestion.isSlowStart, recovery.state == .open,
                slowStart.measured(shortest, acknowledged: sendUnacknowledged, next: sendNext)
            {
                congestion.leaveSlowStart()
            }
        }
        if advance > 0, !delivery.coversRetransmission, let oldest = delivery.oldest {
            time.sample(now - oldest, at: now)
        } else if advance == 0, let latest = delivery.latest {
            time.sample(now - latest, at: now)
        } else if advance > 0, offer.timestamps, let stamps = segment.options.timestamps, stamps.echo != 0 {
            // Only the echo tells which transmission of these octets was seen (RFC 7323, section 4.1).
            let elapsed = Int32(truncatingIfNeeded: stamp(now) &- stamps.echo)
            if elapsed > 0, elapsed < 120_000 { time.sample(.milliseconds(Int64(elapsed)), at: now) }
        }
    }

    /// The end of a tail loss probe, and what it showed (RFC 8985, section 7.4).
    private mutating func endTailProbe(_ acknowledgement: SequenceNumber, isPlain: Bool, sawDuplicate: Bool) {
        guard let end = rack.probeEnd, acknowledgement >= end else { return }
        if !rack.probeWasRetransmission || sawDuplicate || isPlain && acknowledgement == end {
            rack.probeEnd = nil
        } else if acknowledgement > end {
            // The probe itself repaired a loss that nothing else has shown.
            rack.probeEnd = nil
            guard recovery.state == .open else { return }
            congestion.reduce(segmentSize: segmentSize)
            congestion.window = congestion.threshold
        }
    }

    /// RACK (RFC 8985, section 6.2); returns the octets given up.
    mutating func detectLoss(_ delivery: Delivery, now: Instant) -> Int {
        guard usesSACK else { return 0 }
        if delivery.sawReordering { rack.sawReordering = true }
        rack.update(delivery)
        lossTimer.reorderingDeadline = .never
        guard !scoreboard.isClean else { return 0 }
        let window = rack.reorderingWindow(
            time, manySACKed: scoreboard.sacked >= 3 * segmentSize, inRecovery: recovery.state != .open)
        let (given, wait) = scoreboard.giveUp(
            sentBefore: rack.newest, end: rack.newestEnd, patience: rack.roundTrip + window, now: now)
        if wait > .zero { lossTimer.reorderingDeadline = now + wait }
        return given
    }

    /// Moves between the states of recovery and sets the congestion window.
    private mutating func repair(
        _ segment: TCPSegment, _ advance: Int, _ delivery: Delivery, given: Int, now: Instant
    ) {
        leaveRecovery(segment, advance)
        if recovery.state == .open, scoreboard.lost > 0 { enterFastRecovery() }
        switch recovery.state {
        case .fast:
            guard delivery.octets > 0 || given > 0 else { return }
            reduceProportionally(delivered: delivery.octets, safe: advance > 0 && given == 0)
        case .open, .timeout:
            guard advance > 0 else { return }
            let mayGrow = recovery.mayGrow(
                window: congestion.window, isSlowStart: congestion.isSlowStart, acknowledged: sendUnacknowledged,
                next: sendNext)
            guard mayGrow || recovery.state == .timeout else { return }
            let divisor = congestion.isSlowStart && slowStart.conservativeRounds > 0 ? SlowStartExit.growthDivisor : 1
            congestion.acknowledged(
                delivery.octets / divisor, segmentSize: segmentSize, roundTrip: time.smoothed, now: now)
        case .repair: break
        }
    }

    private mutating func leaveRecovery(_ segment: TCPSegment, _ advance: Int) {
        guard recovery.state != .open else { return }
        let echo = offer.timestamps && advance > 0 ? segment.options.timestamps?.echo : nil
        if recovery.wasNeedless(echo: echo == 0 ? nil : echo), let memory = recovery.memory {
            congestion.restore(memory)
            scoreboard.restoreLost()
            lossTimer.backOff = 0
            recovery.end()
        } else if sendUnacknowledged >= recovery.point {
            if recovery.state == .fast {
                congestion.window = congestion.threshold
                rack.endRecovery()
            }
            recovery.end()
        }
    }

    mutating func reduceProportionally(delivered: Int, safe: Bool) {
        congestion.window = rate.window(
            delivered: delivered, inFlight: inFlight, threshold: congestion.threshold, segmentSize: segmentSize,
            safe: safe)
    }

    mutating func enterFastRecovery() {
        let memory = congestion.memory
        congestion.reduce(segmentSize: segmentSize)
        recovery.begin(.fast, from: sendUnacknowledged, to: sendNext, memory: memory)
        rate.begin(window: congestion.window)
        rack.probeEnd = nil
    }
}
