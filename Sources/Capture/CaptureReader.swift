/// Captures read back, packet by packet.

public import Bytes
internal import CPcap
internal import Glibc

/// A packet of a capture.
public struct CapturedPacket: Equatable, Sendable {
    /// When it was captured.
    public let time: UnixTime
    /// Its first octets, from the IP header on.
    public let bytes: [UInt8]
    /// How long it was, from the IP header on.
    public let originalLength: Int
}

/// A capture file, read from its start; files with raw IP and with Ethernet frames can be read.
///
/// Sendable for the reason that `CaptureFile` is.
@safe public struct CaptureReader: ~Copyable, @unchecked Sendable {
    private let path: String
    private let context: OpaquePointer
    /// The octets before each IP header.
    private let linkHeaderLength: Int

    public init(path: String) throws(CaptureError) {
        var reason = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        let opened = unsafe pcap_open_offline_with_tstamp_precision(path, UInt32(PCAP_TSTAMP_PRECISION_NANO), &reason)
        guard let context = unsafe opened else {
            let text = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw .damaged(path: path, reason: String(decoding: text, as: UTF8.self))
        }
        switch unsafe pcap_datalink(context) {
        case DLT_RAW: linkHeaderLength = 0
        case DLT_EN10MB: linkHeaderLength = 14
        default:
            unsafe pcap_close(context)
            throw .damaged(path: path, reason: "neither raw IP nor Ethernet")
        }
        self.path = path
        unsafe self.context = context
    }

    deinit { unsafe pcap_close(context) }

    /// The octets of each packet that the file keeps at most.
    public var snapLength: Int { Int(unsafe pcap_snapshot(context)) }

    /// The next packet, or nil at the end of the file.
    ///
    /// A file that ends in the middle of a record gives all records before it, and then `damaged`.
    public mutating func next() throws(CaptureError) -> CapturedPacket? {
        while true {
            var header: UnsafeMutablePointer<pcap_pkthdr>?
            var data: UnsafePointer<UInt8>?
            let result = unsafe pcap_next_ex(context, &header, &data)
            if result == PCAP_ERROR_BREAK { return nil }
            guard result == 1, let header = unsafe header?.pointee, let data = unsafe data else {
                throw .damaged(path: path, reason: unsafe String(cString: pcap_geterr(context)))
            }
            let length = Int(header.caplen)
            if length < linkHeaderLength { continue }
            // Safe: libpcap lends `caplen` bytes until the next call.
            let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: length)[linkHeaderLength...])
            let time = UnixTime(seconds: Int64(header.ts.tv_sec), nanoseconds: Int32(header.ts.tv_usec))
            return CapturedPacket(time: time, bytes: bytes, originalLength: Int(header.len) - linkHeaderLength)
        }
    }
}
