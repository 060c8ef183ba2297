/// The `adhoc` object: proxies that people bring along, each for one device and for a while.

public import Addresses
public import Bytes

/// Which proxies may be brought, and for how long.
public struct AdhocOptions: Equatable, Sendable {
    /// Where they may be, at least one network.
    public var from: [IPPrefix]
    /// Which ports they may have.
    public var ports: ClosedRange<UInt16> = 1024...65535
    /// How long a device has one before it asks for more.
    public var lease = Interval.hours(1)
    /// How long a device has the same one in all.
    public var longest = Interval.hours(8)

    public init(from: [IPPrefix]) { self.from = from }

    /// Whether a proxy may be at this address: it lies in one of the networks, and is one machine's on the network.
    public func allows(_ address: IPAddress) -> Bool {
        Self.isOfOneMachine(address) && from.contains { $0.contains(address) && $0.broadcast != address }
    }

    /// `10.20.0.0/16, 10.21.0.0/16`.
    public var fromText: String { from.map(\.description).joined(separator: ", ") }

    /// `1024-65535`; one port alone stands alone.
    public var portsText: String {
        ports.count == 1 ? "\(ports.lowerBound)" : "\(ports.lowerBound)-\(ports.upperBound)"
    }

    /// Addresses with a meaning of their own lead to this machine or to many (RFC 6890): no network makes them a
    /// proxy's.
    private static func isOfOneMachine(_ address: IPAddress) -> Bool {
        !address.isLoopback && !address.isLinkLocal && !address.isMulticast && !address.isUnspecified
            && !address.isReserved && !address.isLimitedBroadcast && !(address.isIPv4 && address.v4 >> 24 == 0)
    }
}

extension AdhocOptions {
    private static let leases = Interval.seconds(60) ... .hours(24)
    private static let longestLeases = Interval.seconds(60) ... .hours(24 * 7)

    /// Reads the object; nobody brings anything unless there is one.
    static func read(_ top: Section) throws(ConfigurationError) -> AdhocOptions? {
        guard let value = top["adhoc"], value.content != .boolean(false) else { return nil }
        let section = try Section(value, path: "adhoc", keys: ConfigurationKeys.adhoc)
        var adhoc = AdhocOptions(from: try networks(section))
        try adhoc.readPorts(section)
        try section.read("lease", into: &adhoc.lease, within: leases)
        // A long lease is not to be refused for a bound that nobody has set.
        adhoc.longest = max(adhoc.longest, adhoc.lease)
        try section.read("max", into: &adhoc.longest, within: longestLeases)
        guard adhoc.lease <= adhoc.longest else {
            throw section.error(
                .conflict, "lease",
                found: "\"\(Quantity.text(adhoc.lease))\" with max \"\(Quantity.text(adhoc.longest))\"",
                expected: "a lease that is at most max")
        }
        return adhoc
    }

    private static func networks(_ section: Section) throws(ConfigurationError) -> [IPPrefix] {
        let expected = "the networks of people's machines, such as [\"10.20.0.0/16\"]"
        _ = try section.required("from", expected)
        let networks = try section.networks("from")
        guard !networks.isEmpty else {
            throw section.error(
                .badValue, "from", found: "an empty list", expected: expected, hint: "adhoc: false turns it off")
        }
        if let all = networks.first(where: { $0.length == 0 }) {
            throw section.error(.conflict, "from", found: "\"\(all)\", which is everybody", expected: expected)
        }
        if let wrong = networks.first(where: { !isOfOneMachine($0.base) && $0.length >= 8 }) {
            throw section.error(
                .conflict, "from", found: "\"\(wrong)\", where no proxy of somebody's can be", expected: expected)
        }
        return networks
    }

    /// Reads `"1024-65535"` or `"8899"`.
    private mutating func readPorts(_ section: Section) throws(ConfigurationError) {
        let expected = "two ports with a hyphen between them, such as \"1024-65535\""
        guard let text = try section.text("ports", expected) else { return }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.port)
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last else {
            throw section.error(
                .badValue, "ports", found: Shown.text(text), expected: expected, hint: "ports go from 1 to 65535")
        }
        ports = first...last
    }

    private static func port(_ text: Substring) -> UInt16? {
        guard (1...5).contains(text.utf8.count), text.unicodeScalars.allSatisfy(\.isDecimalDigit),
            let port = UInt16(text), port > 0
        else { return nil }
        return port
    }

    var json: JSON {
        let usual = AdhocOptions(from: from)
        var members: [JSON.Member] = []
        members.add("from", described: from)
        members.add("ports", .string(portsText), unless: .string(usual.portsText))
        members.add("lease", lease, unless: usual.lease)
        members.add("max", longest, unless: max(usual.longest, lease))
        return .object(members)
    }

    var summary: String {
        "from \(fromText), ports \(portsText), for \(Quantity.text(lease)), \(Quantity.text(longest)) at most"
    }
}

/// Why a proxy can't be brought.
public struct AdhocError: Error, Equatable, Sendable, CustomStringConvertible {
    public let found: String
    public let expected: String

    public init(found: String, expected: String) {
        self.found = found
        self.expected = expected
    }

    public var description: String { "found \(found); expected \(expected)" }
}

extension AdhocOptions {
    private static let form = "an address and a port, such as 10.20.3.77:8899"

    /// Reads what somebody has typed: `10.20.3.77:8899`, or the URL that their proxy's window shows.
    ///
    /// A name is refused: it may be another machine's by the time that it is asked for.
    public func upstream(_ text: String) throws(AdhocError) -> Upstream {
        let text = String(text.trimmingBlanks)
        guard !text.isEmpty else { throw AdhocError(found: "nothing", expected: Self.form) }
        guard text.utf8.count <= 128 else {
            throw AdhocError(found: "a text of \(text.utf8.count) octets", expected: Self.form)
        }
        var upstream: Upstream
        if HostText.scheme(text) != nil {
            do throws(ProxyURLError) {
                upstream = try ProxyURL.parse(text).upstream
            } catch {
                throw AdhocError(found: "a URL that is no proxy's", expected: Self.form)
            }
        } else {
            upstream = Upstream(type: .http, server: try Self.server(text))
        }
        guard upstream.credentials == nil else {
            throw AdhocError(found: "a user with a password", expected: "a proxy that wants none: \(Self.form)")
        }
        guard let server = upstream.server else { throw AdhocError(found: "no address", expected: Self.form) }
        try check(server)
        return upstream
    }

    private static func server(_ text: String) throws(AdhocError) -> Upstream.Server {
        if let address = IPAddress(parsing: text[...].trimmed(of: "[", "]")) {
            throw AdhocError(found: "\(address) without a port", expected: form)
        }
        guard let colon = text.lastIndex(of: ":") else {
            throw AdhocError(found: Shown.text(text), expected: form)
        }
        if let address = IPAddress(parsing: text[..<colon].trimmed(of: "[", "]")) {
            let digits = text[text.index(after: colon)...]
            guard let port = Self.port(digits) else {
                throw AdhocError(found: "the port \(Shown.text(String(digits)))", expected: "a port from 1 to 65535")
            }
            return Upstream.Server(host: .address(address), port: port)
        }
        guard HostText.isName(String(text[..<colon])) else { throw AdhocError(found: Shown.text(text), expected: form) }
        throw AdhocError(
            found: "the name \(Shown.text(String(text[..<colon])))",
            expected: "the address of the machine, with its port: \(form)")
    }

    /// Refuses a proxy outside the bounds.
    public func check(_ server: Upstream.Server) throws(AdhocError) {
        guard case .address(let address) = server.host else {
            throw AdhocError(found: "a name", expected: Self.form)
        }
        guard allows(address) else { throw AdhocError(found: "\(address)", expected: "an address in \(fromText)") }
        guard ports.contains(server.port) else {
            throw AdhocError(
                found: "the port \(server.port)",
                expected: ports.count == 1 ? "the port \(portsText)" : "a port in \(portsText)")
        }
    }
}
