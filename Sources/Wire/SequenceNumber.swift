/// A TCP sequence number: 32 bits that wrap around (RFC 9293, section 3.4).
///
/// Two numbers compare by the shorter way round the circle, so an order exists only within 2^31 of each
/// other; that is why the type is not `Comparable` (the order is not transitive) but has the operators.
public struct SequenceNumber: Hashable, Sendable {
    public let value: UInt32

    @inlinable public init(_ value: UInt32) { self.value = value }

    @inlinable public static func + (left: SequenceNumber, right: Int) -> SequenceNumber {
        SequenceNumber(left.value &+ UInt32(truncatingIfNeeded: right))
    }
    @inlinable public static func - (left: SequenceNumber, right: Int) -> SequenceNumber {
        SequenceNumber(left.value &- UInt32(truncatingIfNeeded: right))
    }
    @inlinable public static func += (left: inout SequenceNumber, right: Int) { left = left + right }

    /// How far `left` lies behind `right` on the circle, −2^31 ..< 2^31.
    @inlinable public static func - (left: SequenceNumber, right: SequenceNumber) -> Int {
        Int(Int32(truncatingIfNeeded: left.value &- right.value))
    }

    @inlinable public static func < (left: SequenceNumber, right: SequenceNumber) -> Bool { left - right < 0 }
    @inlinable public static func <= (left: SequenceNumber, right: SequenceNumber) -> Bool { left - right <= 0 }
    @inlinable public static func > (left: SequenceNumber, right: SequenceNumber) -> Bool { left - right > 0 }
    @inlinable public static func >= (left: SequenceNumber, right: SequenceNumber) -> Bool { left - right >= 0 }
}
