/// Writing the answers that need no resolver.
///
/// All of them hold for one second, negative ones too: a device that leaves the gateway, or is switched, has
/// forgotten them before it notices (B110).

public import Addresses
import Bytes
public import Wire

public struct AnswerWriter: Sendable {
    /// The TTL of everything that is ours, in seconds.
    public static let ttl: UInt32 = 1

    private var writer = DNSWriter()

    public init() {}

    /// The last answer.
    public var bytes: [UInt8] { writer.bytes }

    /// An answer with addresses of the type in question; of another family they are left out, which is NODATA.
    public mutating func answer(_ asked: Span<UInt8>, _ query: DNSQuery, addresses: [IPAddress]) {
        writer.begin(answering: asked, query)
        var count = 0
        for address in addresses where query.type == (address.isIPv4 ? .address4 : .address6) {
            writer.addAddress(address, ttl: Self.ttl)
            count += 1
        }
        if count == 0 { writer.addAuthority(seconds: Self.ttl, isOfParent: false) }
        writer.finish(query.edns)
    }

    /// An answer with one address, without making a list of it.
    public mutating func answer(_ asked: Span<UInt8>, _ query: DNSQuery, address: IPAddress) {
        writer.begin(answering: asked, query)
        writer.addAddress(address, ttl: Self.ttl)
        writer.finish(query.edns)
    }

    /// An answer with the name of an address.
    public mutating func answer(_ asked: Span<UInt8>, _ query: DNSQuery, pointer name: String) {
        writer.begin(answering: asked, query)
        writer.addPointer(to: name, ttl: Self.ttl)
        writer.finish(query.edns)
    }

    /// NOERROR without records, with the SOA that lets it be kept for its second (RFC 2308, sections 2.2 and 3).
    public mutating func answerEmpty(_ asked: Span<UInt8>, _ query: DNSQuery) {
        writer.begin(answering: asked, query)
        writer.addAuthority(seconds: Self.ttl, isOfParent: false)
        writer.finish(query.edns)
    }

    /// NXDOMAIN.
    public mutating func answerNonexistent(_ asked: Span<UInt8>, _ query: DNSQuery) {
        writer.begin(answering: asked, query, .nameError)
        writer.addAuthority(seconds: Self.ttl, isOfParent: true)
        writer.finish(query.edns)
    }

    /// A failure: SERVFAIL, REFUSED and the like.
    public mutating func answer(_ asked: Span<UInt8>, _ query: DNSQuery, failure code: DNSCode) {
        writer.begin(answering: asked, query, code)
        writer.finish(query.edns, code: code)
    }

    /// The answer to what has no question that could be repeated.
    public mutating func refuse(_ asked: Span<UInt8>, _ code: DNSCode) {
        writer.begin(refusing: asked, code)
        writer.finish(nil)
    }
}
