/// Services and TCP connections that were there before `host` took the machine's traffic over.
///
/// The administrator's session must not be cut, and the firewall cannot know of it: with the first rule of ours it
/// may see the session's first packet, and that may be one of our side. So the services that others can reach keep
/// their way, and so do the connections that others opened, and ssh in either direction.

import Addresses
import LinuxIO

struct StandingConnections: Equatable, Sendable {
    struct Connection: Hashable, Sendable {
        let local: SocketAddress
        let remote: SocketAddress
    }

    /// The ports of TCP that others can reach.
    private(set) var services: [UInt16] = []
    private(set) var connections: [Connection] = []

    init() {}

    /// Picks them from what `ss -Htan` says.
    init(reading listing: String) {
        var listening: Set<UInt16> = []
        for line in listing.split(separator: "\n") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count >= 5, let local = Self.endpoint(fields[3]) else { continue }
            if fields[0] == "LISTEN" {
                if local.address?.isLoopback != true { listening.insert(local.port) }
            } else if let address = local.address, let remote = Self.endpoint(fields[4]), let far = remote.address {
                connections.append(
                    Connection(local: SocketAddress(address, local.port), remote: SocketAddress(far, remote.port)))
            }
        }
        services = listening.sorted()
        let kept = connections.filter { connection in
            !connection.remote.address.isLoopback
                && (listening.contains(connection.local.port) || connection.local.port == 22
                    || connection.remote.port == 22)
        }
        connections = Set(kept).sorted { "\($0)" < "\($1)" }
    }

    /// Reads `10.0.0.1:22`, `[::ffff:10.0.0.1]:22`, `10.0.0.1%eth0:22`, `*:22`.
    private static func endpoint(_ text: Substring) -> (address: IPAddress?, port: UInt16)? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.first == "[", let end = host.lastIndex(of: "]") {
            host = host[host.index(after: host.startIndex)..<end]
        }
        if let zone = host.firstIndex(of: "%") { host = host[..<zone] }
        return (IPAddress(parsing: host), port)
    }

    // In the firewall

    static let rules = [
        "ip saddr . tcp sport . ip daddr . tcp dport @standing_ipv4",
        "ip6 saddr . tcp sport . ip6 daddr . tcp dport @standing_ipv6",
    ]

    var sets: [String] {
        ["ipv4", "ipv6"].map { family in
            let elements = connections.filter { $0.local.address.isIPv4 == (family == "ipv4") }.map {
                "\($0.local.address) . \($0.local.port) . \($0.remote.address) . \($0.remote.port)"
            }
            let content = elements.isEmpty ? "" : "\t\telements = { \(elements.joined(separator: ", ")) }\n"
            return
                "\tset standing_\(family) {\n\t\ttype \(family)_addr . inet_service . \(family)_addr . inet_service\n"
                + "\(content)\t}\n"
        }
    }
}
