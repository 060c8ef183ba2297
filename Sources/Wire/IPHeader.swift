/// The IP header in front of what the gateway sends, whichever its family.

import Addresses
import Bytes

/// Writing of IP headers without options or extensions.
enum IPHeader {
    /// Time to live and hop limit of what the gateway sends (RFC 1700, "IP Time to live parameter").
    static let defaultHopLimit: UInt8 = 64

    static func length(isIPv4: Bool) -> Int { isIPv4 ? IPv4.headerLength : IPv6.headerLength }

    /// Writes the header of the family of `source` at `offset` and returns its length.
    ///
    /// `identification` matters to IPv4 datagrams that routers may fragment, and to receivers that merge segments;
    /// to all others it has no meaning (RFC 6864, section 4.1).
    static func write(
        into bytes: inout MutableSpan<UInt8>, at offset: Int, source: IPAddress, destination: IPAddress,
        transport: Transport, payloadCount: Int, identification: UInt16 = 0, mayBeFragmented: Bool = false,
        hopLimit: UInt8 = defaultHopLimit
    ) -> Int {
        guard source.isIPv4 else {
            IPv6.writeHeader(
                into: &bytes, at: offset, source: source, destination: destination, next: transport.rawValue,
                payloadCount: payloadCount, hopLimit: hopLimit)
            return IPv6.headerLength
        }
        IPv4.writeHeader(
            into: &bytes, at: offset, source: source, destination: destination, transport: transport,
            payloadCount: payloadCount, identification: identification,
            fragmentField: mayBeFragmented ? 0 : IPv4.dontFragment, hopLimit: hopLimit)
        return IPv4.headerLength
    }
}
