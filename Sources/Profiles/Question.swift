/// What `starshipd explain` is asked about.

public import Addresses
public import Routing

/// A flow that nobody has opened.
public struct Question: Equatable, Sendable {
    /// As `DomainName.normalise` returns it; nil when it is about an address.
    public var name: String?
    public var address: IPAddress?
    /// Nil: any port.
    public var port: UInt16?
    /// The device's address; nil: any device.
    public var source: IPAddress?
    public var network: Network

    public init(
        name: String? = nil, address: IPAddress? = nil, port: UInt16? = nil, source: IPAddress? = nil,
        network: Network = .tcp
    ) {
        self.name = name
        self.address = address
        self.port = port
        self.source = source
        self.network = network
    }

    /// Reads `HOST` or `HOST:PORT`, an IPv6 address in brackets where a port follows.
    public init(_ text: String, from source: String?, isUDP: Bool) throws(UsageError) {
        self.init(network: isUDP ? .udp : .tcp)
        if let source {
            guard let address = IPAddress(parsing: source) else {
                throw UsageError(message: "--from wants the address of a device", hint: "such as 192.168.50.23")
            }
            self.source = address
        }
        if let address = IPAddress(parsing: text[...].trimmed(of: "[", "]")) {
            self.address = address
            return
        }
        if let endpoint = SocketAddress(parsing: text) {
            address = endpoint.address
            port = endpoint.port
            return
        }
        if let (scheme, rest) = HostText.scheme(text) {
            let place = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            let port = place.contains(":") ? "" : ["http": ":80", "https": ":443"][scheme] ?? ""
            throw UsageError(message: "explain wants HOST or HOST:PORT", hint: "write \(Shown.text(place + port))")
        }
        try readName(text)
    }

    private mutating func readName(_ text: String) throws(UsageError) {
        var host = text
        if let colon = text.lastIndex(of: ":") {
            let digits = text[text.index(after: colon)...]
            guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt16(digits), number > 0 else {
                throw UsageError(message: "explain wants HOST or HOST:PORT", hint: "ports go from 1 to 65535")
            }
            host = String(text[..<colon])
            port = number
        }
        do throws(DomainNameError) {
            name = try DomainName.normalise(host)
        } catch {
            throw UsageError(message: "explain wants a name or an address", hint: "there is \(error)")
        }
        // A last label of digits makes it an address, and then a wrong one (WHATWG URL, section 3.5).
        guard name?.split(separator: ".").last?.allSatisfy({ $0.isASCII && $0.isNumber }) == false else {
            throw UsageError(message: "explain wants a name or an address", hint: "this is no IPv4 address")
        }
    }
}
