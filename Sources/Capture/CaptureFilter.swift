/// Packet filters in the language of pcap-filter(7), compiled and run by libpcap.

internal import CPcap
internal import Glibc

/// A compiled filter for raw IP packets.
///
/// Sendable although the compiler can't see it: it never changes, and nothing else has its instructions.
@safe public struct CaptureFilter: ~Copyable, @unchecked Sendable {
    private var program: bpf_program

    /// The octets up to which libpcap may shorten what it has made: with many ranges of ports its time for that grows
    /// with the cube of their number, 4,096 octets took 18 seconds, and who waits for a capture is everybody.
    private static let longestShortened = 512

    /// Compiles a filter such as `tcp port 443 and host 192.0.2.1`; hosts and networks are addresses.
    public init(_ text: String) throws(CaptureError) {
        // For C the text would end there.
        guard !text.utf8.contains(0) else { throw .filter(text: text, reason: "there is a NUL in it") }
        if let name = Self.lookedUpName(in: text) {
            throw .filter(text: text, reason: "found the name `\(name)`; expected an address: no names are looked up")
        }
        // Safe: libpcap owns what it hands out until it is given back, which `deinit` and `defer` do.
        guard let context = unsafe pcap_open_dead(DLT_RAW, CInt(CaptureSettings.longestSnapLength)) else {
            throw .filter(text: text, reason: "no memory")
        }
        defer { unsafe pcap_close(context) }
        var program = unsafe bpf_program()
        // The netmask is for "ip broadcast", which a tunnel does not have: PCAP_NETMASK_UNKNOWN.
        let isShortened: CInt = text.utf8.count <= Self.longestShortened ? 1 : 0
        guard unsafe pcap_compile(context, &program, text, isShortened, 0xffff_ffff) == 0 else {
            throw .filter(text: text, reason: unsafe String(cString: pcap_geterr(context)))
        }
        unsafe self.program = program
    }

    deinit {
        var program = unsafe program
        unsafe pcap_freecode(&program)
    }

    /// Whether a whole packet passes.
    public func passes(_ packet: Span<UInt8>) -> Bool {
        var header = pcap_pkthdr()
        header.caplen = UInt32(packet.count)
        header.len = UInt32(packet.count)
        return unsafe packet.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            return unsafe withUnsafePointer(to: program) { unsafe pcap_offline_filter($0, &header, base) } != 0
        }
    }
}
