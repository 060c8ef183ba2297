/// The handshake without memory, for the owner of the endpoints when too many of them are half open.

public import Addresses
public import Bytes
import Digest
public import Wire

/// Answers to SYNs that cost no memory: what would be remembered is in our sequence number and timestamp.
///
/// The initial sequence number of the SYN-ACK is, from the top: five bits of a counter that ticks every 64 s, three
/// bits that choose an MSS, and 24 bits of a keyed hash over both addresses and ports, the client's initial sequence
/// number, the counter and the MSS. The low five bits of our TSval hold the client's window shift and whether it knows
/// SACK. The ACK that completes the handshake brings both back. A client without timestamps gets neither window scale
/// nor SACK.
public struct SYNCookies: Sendable {
    private let hash: SipHash

    /// For how long the counter stands.
    public static let period = Interval.seconds(64)
    /// How many periods a cookie outlives its own.
    private static let grace: UInt32 = 1
    /// How long after it was sent a cookie may come back at most.
    public static let lifetime = period * (Int64(grace) + 1)
    private static let sizes: [Int] = [256, 536, 1220, 1360, 1400, 1440, 1460, 8960]
    private static let noShift: UInt32 = 15

    /// The key is drawn at random at start.
    public init(key: (UInt64, UInt64)) { hash = SipHash(key.0, key.1) }

    /// What came back in the ACK of a cookie: enough to go on as if the SYN had been remembered.
    public struct Restored: Sendable {
        let offer: Offer
        let clientSequence: SequenceNumber
        let initialSequence: SequenceNumber
    }

    /// The SYN-ACK for a SYN that is not remembered.
    ///
    /// `timestampOffset` is that of `InitialSequence`, which the stream goes on with.
    public func answer(
        _ syn: TCPSegment, client: SocketAddress, target: SocketAddress, timestampOffset: UInt32,
        settings: borrowing TCPSettings, now: Instant
    ) -> TCPSegment {
        let family: AddressFamily = client.address.isIPv4 ? .ipv4 : .ipv6
        let offer = Offer(syn.options)
        let announced = offer.segmentSize ?? family.defaultSegmentSize
        let size = UInt32(Self.sizes.lastIndex { $0 <= announced } ?? 0)
        let cookie = cookie(
            Self.counter(now), size, client: client, target: target, clientSequence: syn.sequence)
        var options = TCPOptions(maximumSegmentSize: settings.announcedSegmentSize(family))
        if offer.timestamps {
            options.windowScale = offer.windowShift == nil ? nil : settings.windowShift
            options.selectiveAcknowledgementPermitted = offer.selectiveAcknowledgements
            options.timestamps = TCPTimestamps(
                value: Self.stamp(for: offer, offset: timestampOffset, now: now), echo: offer.timestamp)
        }
        return TCPSegment(
            sequence: cookie, acknowledgement: syn.sequence + 1, flags: [.syn, .acknowledge],
            window: settings.unscaledWindow, options: options)
    }

    /// What the ACK of a cookie says, or nil when it acknowledges none of ours.
    public func restore(
        _ segment: TCPSegment, client: SocketAddress, target: SocketAddress, now: Instant
    ) -> Restored? {
        let refused: TCPFlags = [.syn, .reset]
        guard segment.flags.contains(.acknowledge), segment.flags.isDisjoint(with: refused) else { return nil }
        let cookie = segment.acknowledgement - 1
        let clientSequence = segment.sequence - 1
        let size = cookie.value >> 24 & 7
        let current = Self.counter(now)
        for age in 0...Self.grace where (current &- age) & 31 == cookie.value >> 27 {
            let expected = self.cookie(
                current &- age, size, client: client, target: target, clientSequence: clientSequence)
            guard expected == cookie else { continue }
            return Restored(
                offer: Self.offer(segment.options.timestamps, size: Self.sizes[Int(size)]),
                clientSequence: clientSequence, initialSequence: cookie)
        }
        return nil
    }

    private static func counter(_ now: Instant) -> UInt32 {
        UInt32(truncatingIfNeeded: now.nanoseconds / period.nanoseconds)
    }

    private func cookie(
        _ counter: UInt32, _ size: UInt32, client: SocketAddress, target: SocketAddress, clientSequence: SequenceNumber
    ) -> SequenceNumber {
        let secret = hash.hash24([
            client.address.high, client.address.low, target.address.high, target.address.low,
            UInt64(client.port) << 16 | UInt64(target.port),
            UInt64(clientSequence.value) << 32 | UInt64(counter) << 3 & 0xffff_ffff | UInt64(size),
        ])
        return SequenceNumber((counter & 31) << 27 | size << 24 | UInt32(truncatingIfNeeded: secret) & 0xff_ffff)
    }

    /// Our timestamp, lowered by less than 64 ms to hold the options; it must not lie ahead of the clock.
    private static func stamp(for offer: Offer, offset: UInt32, now: Instant) -> UInt32 {
        let stamp = UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000) &+ offset
        let shift = offer.windowShift.map { UInt32($0) } ?? noShift
        let low = shift | (offer.selectiveAcknowledgements ? 16 : 0)
        let value = stamp & ~31 | low
        return low > stamp & 31 ? value &- 32 : value
    }

    private static func offer(_ timestamps: TCPTimestamps?, size: Int) -> Offer {
        var options = TCPOptions(maximumSegmentSize: UInt16(size), timestamps: timestamps)
        if let echo = timestamps?.echo {
            let shift = echo & 15
            options.windowScale = shift == noShift ? nil : UInt8(shift)
            options.selectiveAcknowledgementPermitted = echo & 16 != 0
        }
        return Offer(options)
    }
}

extension TCPSettings {
    /// The window of a SYN-ACK that promises nothing beyond what every stream gets.
    var unscaledWindow: UInt16 { UInt16(clamping: min(initialReceiveAllowance, receiveAllowance)) }
}

extension TCPEndpoint {
    /// Goes on from a SYN cookie: the endpoint is as if its SYN-ACK had been sent.
    ///
    /// The ACK that brought the cookie back has to be given to `receive` next; it establishes the stream. The upstream
    /// is not dialled yet, so what the client sends is kept until it is.
    public init(
        cookie: SYNCookies.Restored, timestampOffset: UInt32, family: AddressFamily, settings: borrowing TCPSettings,
        now: Instant
    ) {
        self.init(
            offer: cookie.offer, clientSequence: cookie.clientSequence, initialSequence: cookie.initialSequence,
            timestampOffset: timestampOffset, family: family, settings: settings, now: now)
        phase = .synReceived(sent: 0)
        sendNext = initialSequence + 1
        window.wasTold(next: receiveNext, window: Int(settings.unscaledWindow))
    }
}
