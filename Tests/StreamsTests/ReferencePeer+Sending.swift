/// How the reference peer sends: go-back-N, with a SACK option that is read off the octets it holds.
import Bytes
import TestSupport
import Wire

extension ReferencePeer {
    /// The program at this end reads, or stops reading.
    mutating func setReading(_ reads: Bool, tells: Bool, now: Instant) -> [Flying] {
        isReading = reads
        guard reads, state == .open, unread > 0 else { return [] }
        unread = 0
        return tells ? [acknowledgement(now)] : []
    }

    /// The program at this end gives up.
    mutating func abort() -> [Flying] {
        guard state == .open || state == .opening else { return [] }
        state = .reset
        timer = .never
        answerDeadline = .never
        lingerUntil = .never
        return [resetSegment()]
    }

    func resetSegment() -> Flying {
        Flying(segment: TCPSegment(sequence: SequenceNumber(wire(next)), flags: .reset), bytes: [])
    }

    mutating func tick(now: Instant) -> [Flying] {
        var out: [Flying] = []
        if lingerUntil <= now {
            state = .closed
            lingerUntil = .never
            timer = .never
        }
        if answerDeadline <= now { out.append(acknowledgement(now)) }
        guard timer <= now else { return out }
        timeout = min(timeout * 2, .seconds(20))
        if state == .opening { return open(now: now) }
        next = acknowledged
        timer = now + timeout
        if allowed <= next {
            // One octet into the closed window.
            out += [emit(count: 1, now: now)]
        }
        return out + send(now)
    }

    /// Sends what the windows allow.
    mutating func send(_ now: Instant) -> [Flying] {
        guard state == .open else { return [] }
        var out: [Flying] = []
        let edge = min(allowed, acknowledged + character.sendingWindow)
        while next < sendEnd, next < edge {
            out.append(emit(count: min(segmentSize, edge - next), now: now))
        }
        return out
    }

    mutating func emit(count: Int, now: Instant) -> Flying {
        let first = next - 1
        let last = min(first + count, outgoing.count)
        let bytes = first < last ? Array(outgoing[first..<last]) : []
        var flags: TCPFlags = [.acknowledge]
        let hasFIN =
            finSendable && first + count > last && last == outgoing.count || finSendable && last == outgoing.count
        if hasFIN { flags.insert(.fin) }
        let segment = header(next, flags, count: bytes.count, now: now)
        next += bytes.count + (hasFIN ? 1 : 0)
        if timer == .never { timer = now + timeout }
        return Flying(segment: segment, bytes: bytes)
    }

    mutating func acknowledgement(_ now: Instant) -> Flying {
        Flying(segment: header(max(next, acknowledged), .acknowledge, count: 0, now: now), bytes: [])
    }

    mutating func header(_ place: Int, _ flags: TCPFlags, count: Int, now: Instant) -> TCPSegment {
        let expected = self.place(of: incoming.count) + (finReceived ? 1 : 0)
        // The window never moves back, and is told in whole units of the scale.
        let room = max(character.bufferSize - unread, toldEdge - expected, 0)
        let units = min(room >> shift, 65_535)
        toldEdge = max(toldEdge, expected + units << shift)
        unanswered = 0
        answerDeadline = .never
        var options = TCPOptions()
        if hasTimestamps { options.timestamps = TCPTimestamps(value: clock(now), echo: recentStamp) }
        if hasSACK { options.selectiveAcknowledgements = blocks() }
        return TCPSegment(
            sequence: SequenceNumber(wire(place)),
            acknowledgement: SequenceNumber(theirInitial &+ UInt32(truncatingIfNeeded: expected)), flags: flags,
            window: UInt16(units), options: options, payloadCount: count)
    }

    mutating func blocks() -> SACKBlocks {
        var blocks = SACKBlocks()
        guard !ahead.isEmpty else { return blocks }
        latestAhead.removeAll { ahead[$0] == nil }
        var seen: [Int] = []
        for start in latestAhead.prefix(12) where blocks.count < 3 {
            var low = start
            while ahead[low - 1] != nil { low -= 1 }
            guard !seen.contains(low) else { continue }
            seen.append(low)
            var high = start
            while ahead[high] != nil { high += 1 }
            blocks.append(
                SACKBlock(
                    SequenceNumber(theirInitial &+ UInt32(truncatingIfNeeded: low)),
                    SequenceNumber(theirInitial &+ UInt32(truncatingIfNeeded: high))))
        }
        return blocks
    }
}
