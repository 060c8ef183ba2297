/// The handshake: a SYN that waits for the upstream, and the SYN-ACK (RFC 9293, sections 3.5 and 3.10.7).
import Bytes
import Wire

extension TCPEndpoint {
    /// Takes a segment while the upstream is being dialled: nothing was answered yet.
    mutating func receiveDialling(_ segment: TCPSegment, now: Instant, settings: borrowing TCPSettings) -> TCPEvents {
        let first = received.base - 1
        if segment.flags.contains(.reset) {
            // Only what the client can know of: its SYN, and what follows it.
            guard segment.sequence == first || segment.sequence == received.base else { return .outOfWindow }
            end(.resetByClient)
            return [.reset, .closed]
        }
        guard segment.flags.contains(.syn), !segment.flags.contains(.acknowledge) else { return .outOfWindow }
        guard segment.sequence == first else {
            end(.superseded)
            return [.reset, .closed, .reopen]
        }
        lastHeard = now
        offer.join(segment.options)
        recentTimestamp = offer.timestamp
        sendWindow = Int(segment.window)
        largestSendWindow = sendWindow
        negotiate(settings)
        return []
    }

    /// Takes one more copy of the SYN after the SYN-ACK was sent: it is sent again, the same but for the echo.
    mutating func receiveRepeatedSYN(_ segment: TCPSegment, settings: borrowing TCPSettings) {
        offer.join(segment.options)
        recentTimestamp = offer.timestamp
        negotiate(settings)
        due.insert(.synAcknowledgement)
    }

    /// What follows for us from what the client offers.
    mutating func negotiate(_ settings: borrowing TCPSettings) {
        let announced = Int(settings.announcedSegmentSize(family))
        segmentLimit = max(min(offer.segmentSize ?? family.defaultSegmentSize, announced), 64 + optionLength)
        window.shift = offer.windowShift == nil ? 0 : settings.windowShift
        // IW10 (RFC 6928, section 2).
        congestion.window = min(10 * segmentSize, max(2 * segmentSize, 14600))
    }

    /// The client's ACK completes the handshake.
    mutating func establish(_ segment: TCPSegment, now: Instant, settings: borrowing TCPSettings) {
        // Sent once, so the answer is an answer to it (Karn).
        if phase == .synReceived(sent: 1) { time.sample(now - lossTimer.base, at: now) }
        // RFC 6928, section 2: after a lost SYN-ACK the stream begins with one segment.
        if lossTimer.backOff > 0 { congestion.window = segmentSize }
        phase = isFinishing ? .finWait1 : .established
        sendUnacknowledged = initialSequence + 1
        sendNext = sendUnacknowledged
        windowSequence = segment.sequence
        windowAcknowledgement = segment.acknowledgement
        sendWindow = scaledWindow(segment)
        largestSendWindow = sendWindow
        lossTimer = LossTimer()
        idleDeadline = now + settings.keepaliveIdle
    }

    /// The window field of a segment that is not a SYN, in octets.
    @inline(__always) func scaledWindow(_ segment: TCPSegment) -> Int {
        Int(segment.window) << Int(offer.windowShift ?? 0)
    }

    /// The SYN-ACK; it carries what every SYN of the attempt offered and the latest of their timestamps.
    mutating func synAcknowledgement(
        now: Instant, settings: borrowing TCPSettings, available: Int
    ) -> OutgoingSegment? {
        guard due.contains(.synAcknowledgement), case .synReceived(let sent) = phase else { return nil }
        due.remove(.synAcknowledgement)
        phase = .synReceived(sent: sent + 1)
        sendNext = initialSequence + 1
        lastAcknowledged = receiveNext
        lossTimer.base = now
        lossTimer.kind = .synAcknowledgement
        // 1, 2, 4, 8 s and so on; a copy that a repeated SYN asked for does not put the next one off further.
        if lossTimer.deadline == .never {
            lossTimer.deadline = now + settings.synAcknowledgementWait(after: lossTimer.backOff)
        }
        var options = TCPOptions(
            maximumSegmentSize: settings.announcedSegmentSize(family),
            windowScale: offer.windowShift == nil ? nil : window.shift,
            selectiveAcknowledgementPermitted: offer.selectiveAcknowledgements)
        if offer.timestamps { options.timestamps = timestamps(now) }
        // ECN is not negotiated: neither ECE nor CWR, whatever the SYN said (RFC 3168, section 6.1.1).
        let segment = TCPSegment(
            sequence: initialSequence, acknowledgement: receiveNext, flags: [.syn, .acknowledge],
            window: window.advertiseUnscaled(next: receiveNext, available: available), options: options)
        return OutgoingSegment(segment)
    }

    /// Our clock in milliseconds and the client's as last seen (RFC 7323, section 3).
    @inline(__always) func timestamps(_ now: Instant) -> TCPTimestamps {
        TCPTimestamps(value: stamp(now), echo: recentTimestamp)
    }

    @inline(__always) func stamp(_ now: Instant) -> UInt32 {
        UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000) &+ timestampOffset
    }
}
