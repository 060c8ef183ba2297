/// The header in front of each packet on a TUN device opened with `IFF_VNET_HDR` (virtio 1.3, section 5.1.6,
/// `struct virtio_net_hdr_v1`): what is left to do about checksum and segmentation.
///
/// Its fields stand in the order of the host, which is little-endian on every machine that the gateway runs on.

import Bytes

/// What the kernel did not do yet to a packet, or what it is to do for us.
public struct VirtioHeader: Equatable, Sendable {
    /// The header's octets with `num_buffers`, as set by `TUNSETVNETHDRSZ`.
    public static let length = 12

    /// How far the transport checksum can be relied on.
    public enum Checksum: UInt8, Sendable {
        /// Nobody looked at it: it must be verified.
        case unverified = 0
        /// NEEDS_CSUM: the field holds the pseudo-header sum only; the packet never left this machine.
        case partial = 1
        /// DATA_VALID: somebody verified it.
        case verified = 2
    }

    /// What kind of super-packet it is.
    public enum Segmentation: UInt8, Sendable {
        case none = 0
        case tcp4 = 1
        case tcp6 = 4
        case udp = 5
    }

    public var checksum: Checksum
    public var segmentation: Segmentation
    /// The octets of all headers; not to be relied on when reading.
    public var headerLength: UInt16
    /// The payload octets of each segment of a super-packet.
    public var segmentSize: UInt16
    /// Where summing starts, counted from the packet's first octet; with `partial` only.
    public var checksumStart: UInt16
    /// Where the sum is stored, counted from `checksumStart`; with `partial` only.
    public var checksumOffset: UInt16

    public init(
        checksum: Checksum = .unverified, segmentation: Segmentation = .none, headerLength: UInt16 = 0,
        segmentSize: UInt16 = 0, checksumStart: UInt16 = 0, checksumOffset: UInt16 = 0
    ) {
        self.checksum = checksum
        self.segmentation = segmentation
        self.headerLength = headerLength
        self.segmentSize = segmentSize
        self.checksumStart = checksumStart
        self.checksumOffset = checksumOffset
    }

    /// Whether the transport checksum needs no check by us: NEEDS_CSUM and DATA_VALID are both the kernel's word.
    public var isChecksumTrusted: Bool { checksum != .unverified }

    /// Reads the header in front of a packet.
    ///
    /// The ECN bit of the type is passed over: it says how CWR is spread over the segments, which is no concern
    /// of a receiver.
    public static func parse(_ bytes: Span<UInt8>) throws(WireError) -> VirtioHeader {
        guard bytes.count >= length else { throw .truncated(needed: length, got: bytes.count) }
        let type = bytes[1] & 0x7f
        guard let segmentation = Segmentation(rawValue: type) else { throw .unsupported(.segmentation, type) }
        let checksum: Checksum = bytes[0] & 1 != 0 ? .partial : bytes[0] & 2 != 0 ? .verified : .unverified
        return VirtioHeader(
            checksum: checksum, segmentation: segmentation, headerLength: bytes.hostUInt16(at: 2),
            segmentSize: bytes.hostUInt16(at: 4), checksumStart: bytes.hostUInt16(at: 6),
            checksumOffset: bytes.hostUInt16(at: 8))
    }

    /// Writes the header to the first 12 octets.
    public func write(into bytes: inout MutableSpan<UInt8>) {
        bytes[0] = checksum.rawValue
        bytes[1] = segmentation.rawValue
        bytes.storeHost(headerLength, at: 2)
        bytes.storeHost(segmentSize, at: 4)
        bytes.storeHost(checksumStart, at: 6)
        bytes.storeHost(checksumOffset, at: 8)
        // num_buffers is the device's to fill in (virtio 1.3, section 5.1.6.4).
        bytes.storeHost(0, at: 10)
    }
}

extension Span<UInt8> {
    fileprivate func hostUInt16(at offset: Int) -> UInt16 { uint16(at: offset).byteSwapped }
}

extension MutableSpan<UInt8> {
    fileprivate mutating func storeHost(_ value: UInt16, at offset: Int) { store(value.byteSwapped, at: offset) }
}
