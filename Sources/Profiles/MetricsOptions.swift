/// The `metrics` object: where Prometheus gets its figures over TCP.

public import Addresses

/// A listener that answers `GET /metrics` and nothing else.
public struct MetricsOptions: Equatable, Sendable {
    public static let port: UInt16 = 10800

    /// Where to listen, at least one; IPv4 loopback unless given.
    public var listen = [SocketAddress(IPAddress(v4: 0x7f00_0001), port)]
    /// Who may connect besides the machine itself; not empty when any listener is not on loopback.
    public var allow: [IPPrefix] = []

    public init() {}

    /// Whether a client at this address may connect.
    public func allows(_ address: IPAddress) -> Bool {
        address.isLoopback || allow.contains { $0.contains(address) }
    }
}

extension MetricsOptions {
    /// Reads the object; it is off unless there is one.
    static func read(_ top: Section) throws(ConfigurationError) -> MetricsOptions? {
        guard let value = top["metrics"], value.content != .boolean(false) else { return nil }
        let section = try Section(value, path: "metrics", keys: ConfigurationKeys.metrics)
        var metrics = MetricsOptions()
        if let listen = try section.listeners(port: port) { metrics.listen = listen }
        guard !metrics.listen.isEmpty else {
            throw section.error(
                .badValue, "listen", found: "an empty list",
                expected: "an address and a port, such as \"127.0.0.1:\(port)\"", hint: "metrics: false turns it off")
        }
        metrics.allow = try section.networks("allow")
        if let open = metrics.listen.first(where: { !$0.address.isLoopback }), metrics.allow.isEmpty {
            throw section.error(
                .conflict, "allow", found: "a listener on \(open) and no `allow`",
                expected: "the networks that may read it, such as [\"192.168.50.0/24\"]",
                hint: "on a loopback address it needs none")
        }
        if let all = metrics.allow.first(where: { $0.length == 0 }) {
            throw section.error(
                .conflict, "allow", found: "\"\(all)\", which is everybody",
                expected: "the machine or the network of your Prometheus")
        }
        return metrics
    }

    var json: JSON {
        var members: [JSON.Member] = []
        if listen != MetricsOptions().listen { members.add("listen", described: listen) }
        members.add("allow", described: allow)
        return .object(members)
    }
}
