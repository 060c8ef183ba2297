/// What a segment may do: the tests of RFC 9293, section 3.10.7.4, with RFC 5961 and PAWS (RFC 7323).
public import Bytes
public import Wire

extension TCPEndpoint {
    /// Takes one segment of the client.
    ///
    /// Octets that come next are handed out by the receipt (`Receipt.direct`), and `keep` must settle them before
    /// anything else is called. Afterwards `nextSegment` has the answers.
    public mutating func receive(
        _ segment: TCPSegment, payload: Span<UInt8>, now: Instant, settings: borrowing TCPSettings,
        pool: inout BufferPool
    ) -> Receipt {
        precondition(handedOut == 0, "direct octets were not settled by keep")
        precondition(payload.count == segment.payloadCount, "a payload of another segment")
        switch phase {
        case .closed: return Receipt()
        case .dialling: return Receipt(events: receiveDialling(segment, now: now, settings: settings))
        case .timeWait: return Receipt(events: receiveInTimeWait(segment, now: now, settings: settings))
        case .synReceived:
            if segment.flags.contains(.syn), !segment.flags.contains(.acknowledge),
                segment.sequence == received.base - 1,
                !segment.flags.contains(.reset)
            {
                receiveRepeatedSYN(segment, settings: settings)
                return Receipt()
            }
        case .established, .closeWait, .finWait1, .finWait2, .closing, .lastAck: break
        }
        if let refusal = refuse(segment, now: now, settings: settings) { return Receipt(events: refusal) }

        var events: TCPEvents = []
        if case .synReceived = phase {
            guard segment.acknowledgement == initialSequence + 1 else {
                // RFC 9293, section 3.10.7.4, fifth: the ACK is of nothing that we sent.
                resetSequence = segment.acknowledgement
                return Receipt(events: .outOfWindow)
            }
            establish(segment, now: now, settings: settings)
            events.insert(.established)
        } else if let refusal = refuseAcknowledgement(segment, now: now, settings: settings) {
            return Receipt(events: refusal)
        }
        noteHeard(segment, now: now, settings: settings)
        events.formUnion(takeAcknowledgement(segment, now: now, settings: settings, pool: &pool))
        guard segment.length > 0, !isClosed else { return Receipt(events: events) }
        var receipt = takePayload(segment, payload, now: now, settings: settings, pool: &pool)
        receipt.events.formUnion(events)
        return receipt
    }

    /// Steps one to four: whether the segment is refused whole, and why.
    private mutating func refuse(_ segment: TCPSegment, now: Instant, settings: borrowing TCPSettings) -> TCPEvents? {
        if segment.flags.contains(.reset) { return receiveReset(segment, now: now, settings: settings) }
        if segment.flags.contains(.syn) {
            // RFC 5961, section 4.2: whatever its sequence number, and nothing else of it counts.
            challenge(now: now, settings: settings)
            return .challenged
        }
        if isOutdated(segment, now: now) {
            answerUnacceptable(segment, now: now, settings: settings)
            return .outdated
        }
        guard isAcceptable(segment) else {
            answerUnacceptable(segment, now: now, settings: settings)
            return .outOfWindow
        }
        return segment.flags.contains(.acknowledge) ? nil : .outOfWindow
    }

    /// PAWS (RFC 7323, section 5.3): the segment is older than one that was taken.
    ///
    /// A segment without the option is taken all the same: dropping it, as section 3.2 would have it, hangs the
    /// streams of clients behind boxes that strip options, and protects nothing.
    @inline(__always) private func isOutdated(_ segment: TCPSegment, now: Instant) -> Bool {
        guard offer.timestamps, let stamps = segment.options.timestamps else { return false }
        guard Int32(truncatingIfNeeded: stamps.value &- recentTimestamp) < 0 else { return false }
        // Section 5.5: after 24 days the clock may have gone round.
        return now - lastHeard < .hours(24 * 24)
    }

    /// RFC 5961, section 3.2: a RST counts only at the very next sequence number.
    private mutating func receiveReset(
        _ segment: TCPSegment, now: Instant, settings: borrowing TCPSettings
    ) -> TCPEvents {
        if segment.sequence == receiveNext {
            end(.resetByClient)
            due = []
            return [.reset, .closed]
        }
        guard segment.sequence > receiveNext, segment.sequence < window.edge else { return .outOfWindow }
        challenge(now: now, settings: settings)
        return .challenged
    }

    /// Whether a segment lies in the window, with the leniency that a closed window needs.
    ///
    /// At the edge of a closed window the acknowledgement still counts (RFC 9293, section 3.10.7.4); and a bare
    /// acknowledgement may be as old as what we acknowledged last, since it says nothing about octets.
    @inline(__always) private func isAcceptable(_ segment: TCPSegment) -> Bool {
        guard segment.sequence <= window.edge else { return false }
        return segment.length == 0
            ? segment.sequence >= lastAcknowledged || segment.sequence >= receiveNext
            : segment.sequence + segment.length > receiveNext
    }

    /// Answers a segment outside the window.
    ///
    /// Octets that come twice are acknowledged each time, at once: the client misses our acknowledgement. Bare
    /// segments are bounded, or two confused peers would never stop.
    private mutating func answerUnacceptable(
        _ segment: TCPSegment, now: Instant, settings: borrowing TCPSettings
    ) {
        guard segment.length > 0 else { return challenge(now: now, settings: settings) }
        let end = segment.sequence + segment.payloadCount
        if segment.payloadCount > 0, end <= received.next, received.next - segment.sequence < 1 << 30 {
            acknowledgements.tookDuplicate(SACKBlock(segment.sequence, end))
        } else {
            acknowledgements.require()
        }
    }

    mutating func challenge(now: Instant, settings: borrowing TCPSettings) {
        if challenges.allows(settings.challengesPerSecond, now: now) { acknowledgements.require() }
    }

    /// RFC 5961, section 5.2: an ACK is of octets that were sent, and not absurdly old.
    private mutating func refuseAcknowledgement(
        _ segment: TCPSegment, now: Instant, settings: borrowing TCPSettings
    ) -> TCPEvents? {
        let isOld = segment.acknowledgement < sendUnacknowledged - max(largestSendWindow, 1 << 16)
        guard isOld || segment.acknowledgement > sendNext else { return nil }
        challenge(now: now, settings: settings)
        return .challenged
    }

    /// The client is alive, and its clock is known.
    private mutating func noteHeard(_ segment: TCPSegment, now: Instant, settings: borrowing TCPSettings) {
        lastHeard = now
        unansweredProbes = 0
        idleDeadline = now + settings.keepaliveIdle
        // RFC 7323, section 4.3, rule 2.
        if offer.timestamps, let stamps = segment.options.timestamps, segment.sequence <= lastAcknowledged {
            recentTimestamp = stamps.value
        }
    }

    /// TIME-WAIT (RFC 9293, section 3.10.7.4): late segments are acknowledged, a newer SYN opens anew.
    private mutating func receiveInTimeWait(
        _ segment: TCPSegment, now: Instant, settings: borrowing TCPSettings
    ) -> TCPEvents {
        let record = timeWaitRecord(now: now)
        switch record.receive(segment) {
        case .silence: return []
        case .reopen:
            end(.finished)
            return [.closed, .reopen]
        case .reply:
            acknowledgements.require()
            if segment.flags.contains(.fin) { idleDeadline = now + settings.timeWait }
            return []
        }
    }
}
