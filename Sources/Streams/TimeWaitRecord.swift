/// What takes an endpoint's place when both directions are finished.

public import Bytes
public import Wire

/// What is kept of a stream that is over, so that late segments get the right answer.
///
/// After an orderly end it stands for TIME-WAIT; after a reset it answers late segments with RST. Either way a SYN of a
/// new connection opens anew.
public struct TimeWaitRecord: Equatable, Sendable {
    /// How the stream has ended.
    public enum Kind: Sendable {
        case timeWait
        case reset
    }

    public let kind: Kind
    /// SND.NXT and RCV.NXT at the end.
    public let sendNext: SequenceNumber
    public let receiveNext: SequenceNumber
    /// Our timestamp and TS.Recent at the end, when timestamps were in use.
    public let timestamps: TCPTimestamps?
    /// When the record may be forgotten.
    public let deadline: Instant

    /// What to do about a segment.
    public enum Answer: Equatable, Sendable {
        case reply(TCPSegment)
        case silence
        /// Forget the record and treat the SYN as any other.
        ///
        /// Our new initial sequence number must lie beyond `sendNext` (RFC 9293, section 3.6.1).
        case reopen
    }

    public init(
        kind: Kind, sendNext: SequenceNumber, receiveNext: SequenceNumber, timestamps: TCPTimestamps?,
        deadline: Instant
    ) {
        self.kind = kind
        self.sendNext = sendNext
        self.receiveNext = receiveNext
        self.timestamps = timestamps
        self.deadline = deadline
    }

    public func receive(_ segment: TCPSegment) -> Answer {
        // A RST ends nothing that is over (RFC 1337), and is never answered.
        if segment.flags.contains(.reset) { return .silence }
        let isOpening = segment.flags.contains(.syn) && !segment.flags.contains(.acknowledge)
        switch kind {
        case .reset:
            if isOpening { return .reopen }
            return TCPReset.answering(segment).map { .reply($0) } ?? .silence
        case .timeWait:
            if isOpening, isNewer(segment) { return .reopen }
            return .reply(
                TCPSegment(
                    sequence: sendNext, acknowledgement: receiveNext, flags: .acknowledge,
                    options: TCPOptions(timestamps: timestamps)))
        }
    }

    /// RFC 6191, section 2, and RFC 9293, section 3.6.1.
    private func isNewer(_ syn: TCPSegment) -> Bool {
        if syn.sequence > receiveNext { return true }
        guard let old = timestamps, let new = syn.options.timestamps else { return false }
        return Int32(truncatingIfNeeded: new.value &- old.echo) > 0
    }
}

extension TCPEndpoint {
    /// The record that can take the place of an endpoint in TIME-WAIT, or of one that was reset.
    public func timeWaitRecord(lasting: Interval = .zero, now: Instant) -> TimeWaitRecord {
        var kind = TimeWaitRecord.Kind.timeWait
        if case .closed(let ending) = phase, ending != .finished { kind = .reset }
        return TimeWaitRecord(
            kind: kind, sendNext: sendNext, receiveNext: receiveNext,
            timestamps: offer.timestamps ? timestamps(now) : nil, deadline: now + lasting)
    }
}
