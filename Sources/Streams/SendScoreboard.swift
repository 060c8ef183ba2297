/// What was sent and not acknowledged, as `Transmission`s; acknowledgements, `RACK` and the timers change it.

import Bytes
import Wire

/// What is under way to the client: every octet from SND.UNA to SND.NXT, once, in order.
///
/// Octets sent in one go share a record; SACK and retransmission cut records, and neighbours that are alike
/// are joined again. Three sums say how many octets are in each state, so "how much is in flight" (the pipe of
/// RFC 6675) is one number. The number of records is bounded: a client that acknowledges single octets is not
/// followed beyond the bound, which costs nothing but retransmissions to that client.
struct SendScoreboard {
    private(set) var records: [Transmission] = []
    /// Records before this one are acknowledged.
    @Compact private var head = 0

    /// The octets in flight.
    @Compact private(set) var outstanding = 0
    /// The octets that the client holds ahead of a hole.
    @Compact private(set) var sacked = 0
    /// The octets that have to be sent again.
    @Compact private(set) var lost = 0
    /// The end of the highest octets that SACK told of; meaningful while `sacked` is not 0.
    private var highest = SequenceNumber(0)
    /// Whether a record that waits was retransmitted.
    private(set) var hasRetransmissions = false

    static let limit = 2048

    var isEmpty: Bool { head == records.count }

    /// The end of the highest octets that SACK told of, if any.
    var highestSACK: SequenceNumber? { sacked > 0 ? highest : nil }

    /// Whether everything was sent once, in order, and nothing is known but the cumulative acknowledgement.
    var isClean: Bool { sacked == 0 && lost == 0 && !hasRetransmissions }

    /// The records that are not acknowledged.
    var indices: Range<Int> { head..<records.count }

    /// When the first of the octets under way was last sent.
    var headSentAt: Instant? { isEmpty ? nil : records[head].sentAt }

    /// Whether the client told by SACK that it holds the very octet that it says is missing (reneging).
    var headIsSACKed: Bool { !isEmpty && records[head].state == .sacked }

    // MARK: Sending

    /// Octets beyond all others went out.
    mutating func send(_ start: SequenceNumber, _ end: SequenceNumber, at now: Instant) {
        outstanding += end - start
        if !isEmpty {
            let last = records.count - 1
            let record = records[last]
            let alike = record.state == .outstanding && !record.isRetransmitted
            if record.end == start, alike, record.sentAt == now || records.count - head >= Self.limit {
                records[last].end = end
                records[last].sentAt = now
                return
            }
        }
        records.append(Transmission(start: start, end: end, sentAt: now))
    }

    /// The first record that has to be sent again.
    func firstLost() -> Int? {
        guard lost > 0 else { return nil }
        for index in indices where records[index].state == .lost { return index }
        return nil
    }

    /// The first `octets` of a record went out again.
    mutating func retransmit(_ index: Int, octets: Int, at now: Instant) {
        var record = records[index]
        precondition(octets > 0 && octets <= record.octets && record.state != .sacked, "nothing to retransmit there")
        var rest = record
        rest.start = record.start + octets
        if record.state == .lost {
            lost -= octets
            outstanding += octets
        }
        record.end = rest.start
        record.state = .outstanding
        record.sentAt = now
        record.isRetransmitted = true
        hasRetransmissions = true
        let joins = index > head && records[index - 1].continues(into: record)
        switch (joins, rest.octets > 0) {
        case (true, true):
            records[index - 1].end = record.end
            records[index] = rest
        case (true, false):
            records[index - 1].end = record.end
            records.remove(at: index)
        case (false, true):
            records[index] = record
            records.insert(rest, at: index + 1)
        case (false, false):
            records[index] = record
        }
    }

    /// Cuts the last `octets` off the last record, so that they can be retransmitted alone, and returns their index.
    mutating func splitTail(octets: Int) -> Int {
        let last = records.count - 1
        let cut = records[last].end - octets
        if records[last].start < cut { split(last, at: cut) }
        return records.count - 1
    }

    // MARK: Acknowledgement

    /// Everything below `end` has arrived.
    mutating func acknowledge(upTo end: SequenceNumber, _ delivery: inout Delivery) {
        while head < records.count {
            let record = records[head]
            guard record.start < end else { break }
            let upTo = record.end <= end ? record.end : end
            settle(record, upTo: upTo, &delivery)
            guard upTo == record.end else {
                records[head].start = upTo
                break
            }
            head += 1
        }
        if head == records.count {
            records.removeAll(keepingCapacity: records.capacity <= 32)
            head = 0
            hasRetransmissions = false
        } else if head >= 64, head * 2 >= records.count {
            records.removeSubrange(0..<head)
            head = 0
        }
    }

    private mutating func settle(_ record: Transmission, upTo end: SequenceNumber, _ delivery: inout Delivery) {
        let octets = end - record.start
        switch record.state {
        case .sacked:
            sacked -= octets
            return
        case .lost: lost -= octets
        case .outstanding: outstanding -= octets
        }
        delivery.add(record, upTo: end)
    }

    /// The client holds a block ahead of a hole (RFC 2018, section 5).
    mutating func acknowledge(_ block: SACKBlock, _ delivery: inout Delivery) {
        var index = firstRecord(endingAfter: block.start)
        while index < records.count, records[index].start < block.end {
            if records[index].state == .sacked {
                index += 1
                continue
            }
            if records[index].start < block.start {
                guard records.count - head < Self.limit else { return }
                split(index, at: block.start)
                index += 1
            }
            if records[index].end > block.end {
                guard records.count - head < Self.limit else { return }
                split(index, at: block.end)
            }
            let record = records[index]
            if record.state == .lost { lost -= record.octets } else { outstanding -= record.octets }
            sacked += record.octets
            records[index].state = .sacked
            delivery.add(record, upTo: record.end)
            if sacked == record.octets || record.end > highest { highest = record.end }
            index += 1
        }
    }

    // MARK: Loss

    /// Gives up what was sent long enough before something that has arrived (RFC 8985, section 6.2, step 5).
    ///
    /// Returns the octets given up and how long to wait until more would have to be.
    mutating func giveUp(
        sentBefore newest: Instant, end: SequenceNumber, patience: Interval, now: Instant
    ) -> (octets: Int, wait: Interval) {
        var given = 0
        var wait = Interval.zero
        var kept = head
        var retransmissions = false
        for index in indices {
            var record = records[index]
            if record.state == .outstanding, record.wasSent(before: newest, end: end) {
                let remaining = record.sentAt + patience - now
                if remaining <= .zero {
                    record.state = .lost
                    given += record.octets
                } else {
                    wait = max(wait, remaining)
                }
            }
            if record.isRetransmitted, record.state != .sacked { retransmissions = true }
            if kept > head, records[kept - 1].absorbs(record) {
                records[kept - 1].end = record.end
            } else {
                records[kept] = record
                kept += 1
            }
        }
        if kept < records.count { records.removeSubrange(kept...) }
        hasRetransmissions = retransmissions
        lost += given
        outstanding -= given
        return (given, wait)
    }

    /// Gives up the first `octets` that are not acknowledged.
    mutating func giveUpHead(octets: Int) {
        guard !isEmpty, records[head].state == .outstanding else { return }
        if records[head].octets > octets { split(head, at: records[head].start + octets) }
        records[head].state = .lost
        lost += records[head].octets
        outstanding -= records[head].octets
    }

    /// Gives up everything that was sent before a time and at least `octets` long.
    mutating func giveUpAll(sentBefore time: Instant = .never, longerThan octets: Int = 0) {
        for index in indices where records[index].state == .outstanding {
            guard records[index].sentAt < time, records[index].octets > octets else { continue }
            records[index].state = .lost
            lost += records[index].octets
            outstanding -= records[index].octets
        }
    }

    /// Takes back what was given up: it was only late.
    mutating func restoreLost() {
        for index in indices where records[index].state == .lost { records[index].state = .outstanding }
        outstanding += lost
        lost = 0
    }

    /// Forgets what SACK told (RFC 2018, section 8), when the client turned out to have thrown octets away.
    mutating func forgetSACKs() {
        for index in indices where records[index].state == .sacked { records[index].state = .outstanding }
        outstanding += sacked
        sacked = 0
    }

    // MARK: Inside

    private mutating func split(_ index: Int, at sequence: SequenceNumber) {
        var second = records[index]
        second.start = sequence
        records[index].end = sequence
        records.insert(second, at: index + 1)
    }

    private func firstRecord(endingAfter sequence: SequenceNumber) -> Int {
        var low = head
        var high = records.count
        while low < high {
            let middle = (low + high) / 2
            if records[middle].end > sequence { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Transmission {
    /// Whether a retransmission goes on where this one ended, in the same go.
    fileprivate func continues(into next: Transmission) -> Bool {
        end == next.start && state == .outstanding && isRetransmitted && sentAt == next.sentAt
    }

    /// Whether the next record says the same as this one, so that one record can stand for both.
    fileprivate func absorbs(_ next: Transmission) -> Bool {
        state == next.state && state != .outstanding && isRetransmitted == next.isRetransmitted && end == next.start
    }
}
