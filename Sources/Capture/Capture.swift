/// # Capture: what crosses the TUN device, as pcap files
///
/// A writer shows what the device sees: super-packets are cut into their segments with whole checksums, each
/// goes through the filter, and what passes is written by libpcap with its link type "raw IP" (101), so one
/// file holds IPv4 and IPv6. Files have a bounded size and turn over: FILE is being written, FILE.1 is the
/// one before, and so on.
///
///     packet + virtio header ── PacketCutter ── segments ── CaptureFilter ── CaptureFile ── rotation
///
/// Time comes in as an argument, from the calendar clock at the moment of capture. After a `flush` every
/// record is in the file, whatever becomes of the process. A reader gives the packets of a file back.

/// Why there is no capture (any more).
public enum CaptureError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The filter's text is not in libpcap's language (pcap-filter(7)), or has a name that would be looked up.
    case filter(text: String, reason: String)
    /// The file cannot be opened, written or turned over.
    case file(path: String, reason: String)
    /// A file that is read is damaged or ends in the middle of a record.
    case damaged(path: String, reason: String)

    public var description: String {
        switch self {
        case .filter(let text, let reason): "capture filter '\(text)': \(reason)"
        case .file(let path, let reason): "capture file \(path): \(reason)"
        case .damaged(let path, let reason): "\(path): \(reason)"
        }
    }
}
