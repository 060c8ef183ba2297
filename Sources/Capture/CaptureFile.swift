/// One pcap file that is being written.

internal import Bytes
internal import CPcap
internal import Glibc

/// An open file; closing it writes what is still buffered.
///
/// Sendable although the compiler can't see it: libpcap keeps nothing for each thread, and what cannot be copied has
/// one owner at a time.
@safe struct CaptureFile: ~Copyable, @unchecked Sendable {
    /// The octets of a file's and of a record's header (draft-ietf-opsawg-pcap, sections 4 and 5).
    static let fileHeaderLength = 24
    static let recordHeaderLength = 16

    let path: String
    private let snapLength: Int
    private let nanosecondsPerUnit: Int32
    private let context: OpaquePointer
    private let dumper: OpaquePointer

    /// The octets in the file, with those that still wait in its buffer.
    private var size = fileHeaderLength

    /// Makes the file, for its owner alone: a capture holds what people sent.
    ///
    /// A file that is there already is emptied; a symbolic link in its place is refused.
    init(_ settings: borrowing CaptureSettings) throws(CaptureError) {
        let path = settings.path
        let precision = settings.precision == .nanoseconds ? PCAP_TSTAMP_PRECISION_NANO : PCAP_TSTAMP_PRECISION_MICRO
        // Safe: libpcap owns what it hands out until it is closed, which `deinit` and the failures here do.
        let opened = unsafe pcap_open_dead_with_tstamp_precision(
            DLT_RAW, CInt(settings.snapLength), UInt32(precision))
        guard let context = unsafe opened else { throw .file(path: path, reason: "no memory") }
        let number = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0, let stream = unsafe fdopen(number, "w") else {
            let reason = errno
            unsafe pcap_close(context)
            throw .file(path: path, reason: Self.text(of: reason))
        }
        guard let dumper = unsafe pcap_dump_fopen(context, stream) else {
            let reason = unsafe String(cString: pcap_geterr(context))
            unsafe pcap_close(context)
            throw .file(path: path, reason: reason)
        }
        self.path = path
        snapLength = settings.snapLength
        nanosecondsPerUnit = settings.precision == .nanoseconds ? 1 : 1000
        unsafe self.context = context
        unsafe self.dumper = dumper
    }

    deinit {
        unsafe pcap_dump_close(dumper)
        unsafe pcap_close(context)
    }

    /// Whether a packet of this length would lead over the limit; a file holds one packet at least.
    func isFull(for length: Int, limit: Int) -> Bool {
        size > Self.fileHeaderLength && size + Self.recordHeaderLength + min(length, snapLength) > limit
    }

    /// Adds a packet, cut to the snap length; its true length stands beside it.
    mutating func append(_ packet: Span<UInt8>, at time: UnixTime) {
        var header = pcap_pkthdr()
        header.ts.tv_sec = Int(time.seconds)
        header.ts.tv_usec = Int(time.nanoseconds / nanosecondsPerUnit)
        header.caplen = UInt32(min(packet.count, snapLength))
        header.len = UInt32(packet.count)
        unsafe packet.withUnsafeBufferPointer { bytes in
            // Safe: pcap_dump takes its own handle under the type of a callback's argument (pcap_dump(3PCAP)).
            unsafe pcap_dump(UnsafeMutablePointer<UInt8>(dumper), &header, bytes.baseAddress)
        }
        size += Self.recordHeaderLength + min(packet.count, snapLength)
    }

    /// Hands everything to the kernel; from then on the end of the process loses none of it.
    func flush() throws(CaptureError) {
        guard unsafe pcap_dump_flush(dumper) == 0 else { throw .file(path: path, reason: Self.text(of: errno)) }
    }

    /// The C library's text for an error number.
    static func text(of number: CInt) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { space in
            // Safe: strerror_r of XSI fills the space with a terminated string.
            guard let base = space.baseAddress, unsafe strerror_r(number, base, space.count) == 0 else {
                return "error \(number)"
            }
            return unsafe String(cString: base)
        }
    }
}
