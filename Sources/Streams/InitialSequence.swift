/// Where a stream's sequence numbers begin; the owner of the endpoints has one for all of them.

public import Addresses
public import Bytes
import Digest
public import Wire

/// Initial sequence numbers that nobody can foresee, and that still grow from stream to stream (RFC 6528).
///
/// ISN = M + F(both addresses and ports, secret): M ticks every 4 µs, so a port that is used again begins beyond
/// where it ended; F is a keyed hash, so one stream's number tells nothing about another's.
public struct InitialSequence: Sendable {
    private let hash: SipHash

    /// The key is drawn at random at start, and never again.
    public init(key: (UInt64, UInt64)) { hash = SipHash(key.0, key.1) }

    /// The number for a new stream.
    public func number(client: SocketAddress, target: SocketAddress, now: Instant) -> SequenceNumber {
        let clock = UInt32(truncatingIfNeeded: now.nanoseconds / 4000)
        return SequenceNumber(clock &+ UInt32(truncatingIfNeeded: secret(client, target) >> 32))
    }

    /// The number for a stream that takes the place of one in TIME-WAIT: beyond everything that one sent
    /// (RFC 9293, section 3.6.1).
    public func number(
        client: SocketAddress, target: SocketAddress, beyond last: SequenceNumber, now: Instant
    ) -> SequenceNumber {
        let number = number(client: client, target: target, now: now)
        return number > last ? number : last + 0x1_0001
    }

    /// What our timestamps for this pair are ahead of the clock; the same each time, so that PAWS holds from one
    /// stream to the next (RFC 7323, section 7.1).
    public func timestampOffset(client: SocketAddress, target: SocketAddress) -> UInt32 {
        UInt32(truncatingIfNeeded: secret(client, target))
    }

    private func secret(_ client: SocketAddress, _ target: SocketAddress) -> UInt64 {
        hash.hash24([
            client.address.high, client.address.low, target.address.high, target.address.low,
            UInt64(client.port) << 16 | UInt64(target.port),
        ])
    }
}
