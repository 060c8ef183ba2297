/// The fake map's records, as a journal keeps them: what each place's name is, and for which range.
///
///     kind 1   range      family 4 prefix (base 4 octets, length 1), family 6 prefix (base 16, length 1)
///     kind 2   name       place (4 octets), name
///     kind 3   reserved   bound (4 octets)
///
/// Numbers are in network order. Records count from first to last: a later name of a place replaces the earlier one.

import Addresses
import Bytes

/// One entry of the fake map's journal.
public enum FakeMapRecord: Equatable, Sendable {
    /// Which range the places of all records are of; the first record.
    case range(FakeRange)
    /// A name was given a place.
    case name(String, place: UInt32)
    /// Places below this bound may have been answered without a record of their own.
    case reserved(below: UInt32)

    /// The longest name (RFC 1035, section 2.3.4).
    public static let longestName = 255

    /// Reads a record; nil for anything that this version does not know.
    public static func parse(_ bytes: Span<UInt8>) -> FakeMapRecord? {
        guard bytes.count > 4 else { return nil }
        switch bytes[0] {
        case 1:
            guard bytes.count == 23, let v4 = IPPrefix(IPAddress(v4: bytes.uint32(at: 1)), length: Int(bytes[5])),
                let v6 = IPPrefix(
                    IPAddress(high: bytes.uint64(at: 6), low: bytes.uint64(at: 14)), length: Int(bytes[22])),
                !v6.base.isIPv4
            else { return nil }
            return .range(FakeRange(v4: v4, v6: v6))
        case 2:
            guard bytes.count > 5, bytes.count <= 5 + longestName else { return nil }
            let octets = bytes.extracting(5..<bytes.count)
            guard let text = try? UTF8Span(validating: octets) else { return nil }
            return .name(String(copying: text), place: bytes.uint32(at: 1))
        case 3:
            guard bytes.count == 5 else { return nil }
            return .reserved(below: bytes.uint32(at: 1))
        default:
            return nil
        }
    }

    /// Writes the record behind what is in `bytes`.
    public func write(to bytes: inout [UInt8]) {
        switch self {
        case .range(let range):
            bytes.append(1)
            Self.append(UInt64(range.v4.base.v4), octets: 4, to: &bytes)
            bytes.append(UInt8(range.v4.length))
            Self.append(range.v6.base.high, octets: 8, to: &bytes)
            Self.append(range.v6.base.low, octets: 8, to: &bytes)
            bytes.append(UInt8(range.v6.length))
        case .name(let name, let place):
            bytes.append(2)
            Self.append(UInt64(place), octets: 4, to: &bytes)
            bytes.append(contentsOf: name.utf8)
        case .reserved(let bound):
            bytes.append(3)
            Self.append(UInt64(bound), octets: 4, to: &bytes)
        }
    }

    private static func append(_ value: UInt64, octets: Int, to bytes: inout [UInt8]) {
        for octet in (0..<octets).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(octet * 8))) }
    }
}
