/// # How a TCP endpoint works
///
/// One endpoint answers one flow from the tunnel. It is a value with no clock and no descriptor: a segment or a
/// tick goes in, and the segments to send come out. The caller owns both ends, so a test can play any exchange, in
/// any order, at any time.
///
///     tunnel ── segment ──▶ receive ── direct ──▶ upstream      what it does not take comes back by keep
///                                  └── unread ──▶ upstream      removeUnread opens the window again
///     tunnel ◀── nextSegment ◀── send queue ◀── upstream        sendSpace, reserve, commit
///
/// The handshake is answered only after the upstream has accepted (`accept`), so a client sees a refused upstream as
/// a refused connection. The endpoint is passive: the client always opens.
///
/// **Receiving.** `receive` judges the segment in the order of RFC 9293, section 3.10.7.4, with PAWS (RFC 7323)
/// before and the tests of RFC 5961 between. Octets that come next are handed out as they are (`Receipt.direct`);
/// only what the upstream does not take, or what came ahead of a hole, is stored (`ReceiveBuffer`). Nothing is
/// acknowledged that was neither taken nor stored.
///
/// **Sending.** `nextSegment` is asked until it returns nil. It sends, in this order: a reset, a SYN-ACK, what was
/// lost, a probe, what is new, a bare acknowledgement. Every decision that waits for time is in `deadline`; at that
/// time the caller calls `timeout` and then `nextSegment` again.
///
/// **Loss.** `SendScoreboard` knows each octet under way. An acknowledgement updates it, `RACK` gives up what was sent
/// well before something that has arrived, and `ProportionalRate` says how much may go out during a recovery; between
/// recoveries `CUBIC` does. A tail loss probe comes before the retransmission timer. A recovery that turns out to
/// have been needless (timestamps, DSACK) is undone.
///
/// **Memory.** Octets live in chunks of the caller's pool. An endpoint with nothing unread and nothing
/// unacknowledged holds none. `release` gives everything back and must be called before the endpoint goes away.
public import Bytes
public import Wire

/// One TCP stream with a client of the tunnel, seen from the far end (RFC 9293).
public struct TCPEndpoint: ~Copyable {
    /// The states of RFC 9293, section 3.3.2, and one before them.
    public enum Phase: Equatable, Sendable {
        /// A SYN has come and the upstream is being dialled.
        ///
        /// May: take SYNs of the same attempt, be accepted, aborted, or cancelled by the client.
        /// May not: send anything but a RST; store octets of the client.
        case dialling
        /// The SYN-ACK is due or was sent, so many times.
        ///
        /// May: send the SYN-ACK again; queue octets for the client. May not: send them.
        case synReceived(sent: Int)
        /// Both directions are open.
        case established
        /// The client has finished. May: send and finish. May not: receive octets.
        case closeWait
        /// Our FIN is queued or under way, the client's has not come.
        ///
        /// May: receive; send what was queued before the FIN. May not: queue more.
        case finWait1
        /// Our FIN is acknowledged. May: receive. May not: send octets.
        case finWait2
        /// Both FINs are there, ours is not acknowledged, and it was the first.
        case closing
        /// Both FINs are there, ours is not acknowledged, and it was the second.
        case lastAck
        /// Everything is done; late segments are answered, a newer SYN may take over.
        case timeWait
        /// Nothing may be done but `nextSegment` (for a RST that is due) and `release`.
        case closed(Ending)
    }

    /// How a stream ended.
    public enum Ending: Equatable, Sendable {
        /// Both sides finished and everything was acknowledged.
        case finished
        /// The client sent a RST, or cancelled the attempt.
        case resetByClient
        /// `abort` was called.
        case aborted
        /// The client acknowledged nothing for too long, or never completed the handshake.
        case timedOut
        /// The client began a new attempt from the same port.
        case superseded
    }

    public internal(set) var phase: Phase
    public let family: AddressFamily
    public internal(set) var accounts = TCPAccounts()

    // The handshake.
    var offer: Offer
    let initialSequence: SequenceNumber
    let timestampOffset: UInt32

    // Sending. The queue's first octet is SND.UNA, as soon as the SYN is acknowledged.
    var sendQueue = ByteQueue()
    /// SND.UNA.
    var sendUnacknowledged: SequenceNumber
    /// SND.NXT.
    var sendNext: SequenceNumber
    /// SND.WND, scaled, and the most that it was.
    @Compact var sendWindow = 0
    @Compact var largestSendWindow = 0
    /// SND.WL1 and SND.WL2.
    var windowSequence: SequenceNumber
    var windowAcknowledgement: SequenceNumber
    /// Whether a FIN follows the queue.
    var isFinishing = false
    /// The most octets in a segment, options counted in.
    @Compact var segmentLimit: Int
    var scoreboard = SendScoreboard()

    // Loss and congestion.
    var time = RoundTripTime()
    var rack = RACK()
    var congestion: CUBIC
    var rate = ProportionalRate()
    var recovery = Recovery()
    var slowStart = SlowStartExit()

    // Receiving.
    var received: ReceiveBuffer
    var window: ReceiveWindow
    var acknowledgements = Acknowledgements()
    /// The client's FIN, once its place is known.
    var finSequence: SequenceNumber?
    /// Whether the FIN was in order and is counted in RCV.NXT.
    var finTaken = false
    /// Octets handed out as `Receipt.direct` that `keep` has not settled.
    @Compact var handedOut = 0
    /// TS.Recent (RFC 7323, section 4.3).
    var recentTimestamp: UInt32 = 0
    /// Last.ACK.sent.
    var lastAcknowledged: SequenceNumber
    var challenges = ChallengeLimit()

    // Time.
    var due: Due = []
    /// The sequence number of a RST that answers an impossible ACK in SYN-RECEIVED and ends nothing.
    var resetSequence: SequenceNumber?
    var lossTimer = LossTimer()
    /// When the client was last heard.
    var lastHeard: Instant
    /// Keepalive, or the end of TIME-WAIT.
    var idleDeadline = Instant.never
    @Compact var unansweredProbes = 0

    /// What has to be sent apart from data.
    struct Due: OptionSet {
        let rawValue: UInt8
        static let reset = Due(rawValue: 1)
        static let synAcknowledgement = Due(rawValue: 2)
        /// One octet into a closed window, or what a nearly closed one holds.
        static let windowProbe = Due(rawValue: 4)
        static let tailProbe = Due(rawValue: 8)
        static let keepaliveProbe = Due(rawValue: 16)
    }

    /// Begins with the SYN of a client; nothing is answered before `accept`.
    public init(
        syn: TCPSegment, initialSequence: SequenceNumber, timestampOffset: UInt32, family: AddressFamily,
        settings: borrowing TCPSettings, now: Instant
    ) {
        self.init(
            offer: Offer(syn.options), clientSequence: syn.sequence, initialSequence: initialSequence,
            timestampOffset: timestampOffset, family: family, settings: settings, now: now)
        sendWindow = Int(syn.window)
        largestSendWindow = sendWindow
    }

    init(
        offer: Offer, clientSequence: SequenceNumber, initialSequence: SequenceNumber, timestampOffset: UInt32,
        family: AddressFamily, settings: borrowing TCPSettings, now: Instant
    ) {
        phase = .dialling
        self.family = family
        self.offer = offer
        self.initialSequence = initialSequence
        self.timestampOffset = timestampOffset
        sendUnacknowledged = initialSequence
        sendNext = initialSequence
        windowSequence = clientSequence
        windowAcknowledgement = initialSequence
        segmentLimit = 0
        congestion = CUBIC(window: 0)
        received = ReceiveBuffer(base: clientSequence + 1)
        window = ReceiveWindow(
            next: clientSequence + 1, allowance: min(settings.initialReceiveAllowance, settings.receiveAllowance))
        recentTimestamp = offer.timestamp
        lastAcknowledged = clientSequence + 1
        lastHeard = now
        negotiate(settings)
    }

    /// RCV.NXT.
    @inline(__always) var receiveNext: SequenceNumber { received.next + (finTaken ? 1 : 0) }

    /// The sequence number of our FIN; meaningful when `isFinishing`.
    @inline(__always) var ownFIN: SequenceNumber { sendUnacknowledged + sendQueue.count }

    /// Octets in the queue that were never sent.
    @inline(__always) var unsent: Int { max(sendQueue.count - (sendNext - sendUnacknowledged), 0) }

    /// The octets of the options in a segment without SACK blocks.
    @inline(__always) var optionLength: Int { offer.timestamps ? 12 : 0 }

    /// The most octets of payload in a segment without SACK blocks.
    @inline(__always) var segmentSize: Int { segmentLimit - optionLength }

    /// Whether the endpoint has nothing more to do.
    @inline(__always) public var isClosed: Bool {
        if case .closed = phase { return !due.contains(.reset) }
        return false
    }

    /// The round-trip time to the client, or zero before it was measured.
    @inline(__always) public var roundTripTime: Interval { time.smoothed }

    // MARK: What the caller decides

    /// The upstream has accepted: the SYN-ACK becomes due.
    public mutating func accept() {
        guard phase == .dialling else { return }
        phase = .synReceived(sent: 0)
        due.insert(.synAcknowledgement)
    }

    /// Queues a FIN after what is queued; the client may still send.
    public mutating func finish() {
        guard !isFinishing else { return }
        switch phase {
        case .synReceived: isFinishing = true
        case .established:
            isFinishing = true
            phase = .finWait1
        case .closeWait:
            isFinishing = true
            phase = .lastAck
        case .dialling, .finWait1, .finWait2, .closing, .lastAck, .timeWait, .closed: break
        }
    }

    /// Ends the stream with a RST, which becomes due.
    ///
    /// A client whose SYN was not answered sees a refused connection.
    public mutating func abort() {
        if case .closed = phase { return }
        if phase != .timeWait { due = .reset }
        end(.aborted)
    }

    /// Gives every chunk back to the pool.
    public mutating func release(_ pool: inout BufferPool) {
        sendQueue.removeAll(in: &pool)
        received.removeAll(in: &pool)
        handedOut = 0
    }

    mutating func end(_ ending: Ending) {
        phase = .closed(ending)
        lossTimer = LossTimer()
        acknowledgements = Acknowledgements()
        idleDeadline = .never
    }
}
