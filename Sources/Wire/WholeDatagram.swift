/// The IP packet that a datagram is once its fragments are together.

public import Addresses
import Bytes

/// The header of a datagram that was put together from fragments.
public struct WholeDatagram: Equatable, Sendable {
    public var source: IPAddress
    public var destination: IPAddress
    public var transport: Transport
    /// The hop limit that its first piece had on arrival.
    public var hopLimit: UInt8

    public init(source: IPAddress, destination: IPAddress, transport: Transport, hopLimit: UInt8) {
        self.source = source
        self.destination = destination
        self.transport = transport
        self.hopLimit = hopLimit
    }

    /// The packet without options or extension headers around this payload, which must fit its length field.
    public func packet(_ payload: [UInt8]) -> [UInt8] {
        let headerLength = IPHeader.length(isIPv4: source.isIPv4)
        var bytes = [UInt8](repeating: 0, count: headerLength + payload.count)
        var output = bytes.mutableSpan
        _ = IPHeader.write(
            into: &output, at: 0, source: source, destination: destination, transport: transport,
            payloadCount: payload.count, mayBeFragmented: true, hopLimit: hopLimit)
        output.copy(payload.span, at: headerLength)
        return bytes
    }
}
