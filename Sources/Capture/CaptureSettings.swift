/// What is captured, and where it goes.

/// The settings of one capture.
public struct CaptureSettings: Equatable, Sendable {
    /// The longest snap length that readers accept (libpcap's MAXIMUM_SNAPLEN).
    public static let longestSnapLength = 262_144

    /// How fine the time of a packet is written.
    public enum Precision: Sendable {
        /// Magic number a1b2c3d4: every reader knows it.
        case microseconds
        /// Magic number a1b23c4d.
        case nanoseconds
    }

    /// The file that is written; further ones get `.1`, `.2` … behind it.
    public var path: String

    /// In the language of pcap-filter(7); nil for everything.
    public var filter: String?

    /// The octets of a packet that are kept; its true length is kept in any case.
    public var snapLength: Int

    /// The octets at which a file is full.
    public var fileSize: Int

    /// How many files there are at most, the one being written included.
    public var fileCount: Int

    public var precision: Precision

    public init(
        path: String, filter: String? = nil, snapLength: Int = longestSnapLength, fileSize: Int = 100_000_000,
        fileCount: Int = 5, precision: Precision = .microseconds
    ) {
        self.path = path
        self.filter = filter
        self.snapLength = min(max(1, snapLength), Self.longestSnapLength)
        self.fileSize = max(fileSize, 4096)
        self.fileCount = max(fileCount, 1)
        self.precision = precision
    }
}
