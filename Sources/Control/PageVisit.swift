/// One request to the page, as it came.

public import Addresses
internal import Bytes
public import Page
internal import Wire

/// One request to the page.
public struct PageVisit: Equatable, Sendable {
    public var head: PageHead
    /// Path and query as they stand in the request.
    public var target: String
    public var body: [UInt8]
    /// Who asks.
    public var client: SocketAddress
    /// Our address that was asked: before the redirection of port 80 where the kernel knows it, else the socket's.
    public var local: IPAddress
    /// The addresses that we have on the LAN, as far as is known: those under which the page may be asked for.
    public var addresses: Set<IPAddress>
    /// Under which an answer is taken that comes later.
    public var number: UInt64

    public init(
        head: PageHead, target: String, body: [UInt8] = [], client: SocketAddress, local: IPAddress,
        addresses: Set<IPAddress> = [], number: UInt64 = 0
    ) {
        self.head = head
        self.target = target
        self.body = body
        self.client = client
        self.local = local
        self.addresses = addresses
        self.number = number
    }
}

/// What the head of a request says, before its body is there.
struct PageRequestHead {
    var head: PageHead
    var target: String
    var isHead: Bool
    var closes: Bool
    var expectsContinue: Bool
    var rest: HTTPBody

    init(_ octets: Span<UInt8>) throws(HTTPError) {
        let parsed = try HTTPRequestHead.parse(octets)
        let method = Self.text(octets, parsed.methodRange)
        head = PageHead(method: method, host: parsed.hostRange.map { Self.text(octets, $0) } ?? "")
        target = Self.text(octets, parsed.targetRange)
        isHead = method == "HEAD"
        closes = parsed.saysClose || !parsed.isVersion11
        expectsContinue = false
        rest = parsed.body
        try readFields(octets, from: parsed.fieldsStart, isVersion11: parsed.isVersion11)
        readAbsoluteForm()
    }

    /// A field that decides who may do something is there once or not at all: said twice it is said by two.
    private mutating func readFields(
        _ octets: Span<UInt8>, from start: Int, isVersion11: Bool
    ) throws(HTTPError) {
        var cursor = HTTPFieldCursor(at: start)
        while let field = try cursor.next(in: octets) {
            switch Self.text(octets, field.name).lowercased() {
            case "origin":
                guard head.origin == nil else { throw .badField }
                head.origin = Self.text(octets, field.value)
            case "content-type":
                guard head.contentType == nil else { throw .badField }
                head.contentType = Self.text(octets, field.value)
            case "expect":
                // Who speaks 1.0 does not wait for it, and would take it for the answer (RFC 9110, section 10.1.1).
                expectsContinue = isVersion11 && Self.text(octets, field.value).lowercased() == "100-continue"
            default: break
            }
        }
    }

    /// In the absolute form the target names the host, whatever Host says (RFC 9112, section 3.2.2).
    private mutating func readAbsoluteForm() {
        let scheme = "http://"
        guard target.prefix(scheme.count).lowercased() == scheme else { return }
        let rest = target.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        head.host = String(rest[..<end])
        target = (rest[end...].first == "/" ? "" : "/") + rest[end...]
    }

    private static func text(_ octets: Span<UInt8>, _ range: Range<Int>) -> String {
        String(decoding: [UInt8](copying: octets.extracting(range)), as: UTF8.self)
    }
}
