/// Why bytes from the wire were refused: one closed list, so that every drop can be counted under its name.

/// Why bytes from the wire were refused.
public enum WireError: Error, Equatable, Sendable {
    /// There are fewer octets than the format needs.
    case truncated(needed: Int, got: Int)
    /// The field is well formed and has a value that the gateway does not serve.
    case unsupported(Field, UInt8)
    /// The field contradicts the rest of the packet or its specification.
    case inconsistent(Field)
    /// The checksum does not match.
    case checksum

    /// What part of a packet an error is about.
    public enum Field: Sendable {
        case version, headerLength, totalLength, fragment, transport, address, extensionHeader
        case checksum, segmentation, type, name, question
    }
}
