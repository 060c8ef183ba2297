/// Everything that waits for time.
public import Bytes
import Wire

extension TCPEndpoint {
    /// When `timeout` has to be called, at the latest.
    @inline(__always) public var deadline: Instant { min(lossTimer.deadline, acknowledgements.deadline, idleDeadline) }

    /// Does what is due; `nextSegment` has what follows from it.
    public mutating func timeout(now: Instant, settings: borrowing TCPSettings) -> TCPEvents {
        var events: TCPEvents = []
        if acknowledgements.deadline <= now { acknowledgements.expire() }
        if idleDeadline <= now { events.formUnion(idleTimeout(now, settings: settings)) }
        guard lossTimer.deadline <= now else { return events }
        switch lossTimer.kind {
        case .idle: lossTimer.deadline = .never
        case .synAcknowledgement: events.formUnion(synAcknowledgementTimeout(now, settings: settings))
        case .retransmission: events.formUnion(retransmissionTimeout(now, settings: settings))
        case .tailProbe:
            due.insert(.tailProbe)
            lossTimer.set(.retransmission, retransmissionDeadline(from: now))
        case .reordering:
            let given = detectLoss(Delivery(now: now, leastRoundTrip: time.least), now: now)
            if given > 0, recovery.state == .open {
                enterFastRecovery()
                reduceProportionally(delivered: 0, safe: false)
            }
            armLossTimer(now)
        case .persist: events.formUnion(persistTimeout(now, settings: settings))
        }
        return events
    }

    @inline(__always) private func retransmissionDeadline(from base: Instant) -> Instant {
        let timeout = time.timeout * (1 << Int64(min(lossTimer.backOff, 16)))
        return base + min(timeout, RoundTripTime.most)
    }

    /// Sets the timer of the sending side by what is under way.
    mutating func armLossTimer(_ now: Instant) {
        if scoreboard.isEmpty {
            guard unsent > 0 || isFinishing && phase != .finWait2 && phase != .timeWait else {
                return lossTimer.set(.idle, .never)
            }
            return armPersist(now)
        }
        if sendWindow == 0 { return armPersist(now) }
        let timeout = retransmissionDeadline(from: lossTimer.base)
        if lossTimer.reorderingDeadline < timeout {
            lossTimer.set(.reordering, lossTimer.reorderingDeadline)
        } else if let probe = tailProbeDeadline {
            // A probe comes before the timeout even when that is nearer (RFC 8985, section 7.2).
            lossTimer.set(.tailProbe, min(probe, timeout))
        } else {
            lossTimer.set(.retransmission, timeout)
        }
    }

    /// PTO (RFC 8985, section 7.2), when a probe may be sent.
    @inline(__always) private var tailProbeDeadline: Instant? {
        guard recovery.state == .open, rack.probeEnd == nil, scoreboard.sacked == 0, scoreboard.lost == 0,
            offer.selectiveAcknowledgements, time.isKnown, lossTimer.backOff == 0, lossTimer.tailBase != .never
        else { return nil }
        // A single segment may be waiting for a delayed acknowledgement.
        let margin: Interval =
            scoreboard.outstanding <= segmentSize ? RoundTripTime.leastMargin : .milliseconds(2)
        return lossTimer.tailBase + time.smoothed * 2 + margin
    }

    private mutating func armPersist(_ now: Instant) {
        guard lossTimer.kind != .persist else { return }
        lossTimer.backOff = 0
        lossTimer.set(.persist, retransmissionDeadline(from: now))
    }

    private mutating func synAcknowledgementTimeout(_ now: Instant, settings: borrowing TCPSettings) -> TCPEvents {
        guard lossTimer.backOff < settings.synAcknowledgementRetries else { return giveUp() }
        lossTimer.backOff += 1
        lossTimer.deadline = .never
        due.insert(.synAcknowledgement)
        return []
    }

    /// RTO (RFC 6298, section 5; RFC 5681, section 3.1).
    private mutating func retransmissionTimeout(_ now: Instant, settings: borrowing TCPSettings) -> TCPEvents {
        if hasStalled(now, settings: settings) { return giveUp() }
        accounts.timeouts += 1
        if recovery.state != .timeout {
            let memory = recovery.state == .fast ? nil : congestion.memory
            if recovery.state != .fast { congestion.reduce(segmentSize: segmentSize) }
            recovery.begin(.timeout, from: sendUnacknowledged, to: sendNext, memory: memory)
        }
        if scoreboard.headIsSACKed { scoreboard.forgetSACKs() }
        // What was sent only just now may still arrive; the rest, and the head in any case, is given up.
        scoreboard.giveUpHead(octets: segmentSize)
        scoreboard.giveUpAll(sentBefore: now - max(rack.roundTrip, time.smoothed) - time.least / 4)
        recovery.duplicates = 0
        congestion.window = inFlight + segmentSize
        rack.probeEnd = nil
        lossTimer.backOff += 1
        lossTimer.reorderingDeadline = .never
        lossTimer.base = now
        lossTimer.set(.retransmission, retransmissionDeadline(from: now))
        return []
    }

    private mutating func persistTimeout(_ now: Instant, settings: borrowing TCPSettings) -> TCPEvents {
        if hasStalled(now, settings: settings) { return giveUp() }
        lossTimer.backOff += 1
        lossTimer.set(.persist, retransmissionDeadline(from: now))
        due.insert(.windowProbe)
        return []
    }

    /// Whether the client has been silent for too long; the time begins with the first timeout.
    private mutating func hasStalled(_ now: Instant, settings: borrowing TCPSettings) -> Bool {
        if lossTimer.stalledSince == .never { lossTimer.stalledSince = now }
        return now - lossTimer.stalledSince > settings.giveUpAfter
    }

    private mutating func giveUp() -> TCPEvents {
        end(.timedOut)
        due = .reset
        return [.timedOut, .closed]
    }

    /// Keepalive (RFC 9293, section 3.8.4), or the end of TIME-WAIT.
    private mutating func idleTimeout(_ now: Instant, settings: borrowing TCPSettings) -> TCPEvents {
        if phase == .timeWait {
            end(.finished)
            return .closed
        }
        // What is under way asks the client already.
        guard scoreboard.isEmpty, unsent == 0 else {
            idleDeadline = now + settings.keepaliveIdle
            return []
        }
        guard unansweredProbes < settings.keepaliveProbes else { return giveUp() }
        unansweredProbes += 1
        idleDeadline = now + settings.keepaliveInterval
        due.insert(.keepaliveProbe)
        return []
    }
}
