/// The keys that sign links and pushes, and the ways in of those who configure the gateway.

public import Addresses

/// A named key: its octets are in a file, and stay there.
public struct KeyOptions: Equatable, Sendable {
    /// The name in `kid` and in `Starship-Key`.
    public var id: String
    /// The path of the file that holds the key (`LinkKey.secret` reads it).
    public var file: String
    /// The proxies that its links may name, spelled as in `domains`; nil: each one.
    public var hosts: [RuleText]?
    public var scope: Set<LinkKey.Scope> = [.links]
    /// The last second of its life, counted from 1970; nil: none.
    public var until: Int64?
    /// Whether everything that it signed is void.
    public var isRevoked = false

    public init(id: String, file: String) {
        self.id = id
        self.file = file
    }
}

/// The Unix socket of the control API.
public struct ControlOptions: Equatable, Sendable {
    public var socket = "/run/starship/control.sock"
    /// The Unix group that may use it; nil: the daemon's own.
    public var group: String?

    public init() {}
}

/// The TCP listener for signed requests.
public struct PushOptions: Equatable, Sendable {
    public static let port: UInt16 = 10801

    /// Where to listen, at least one.
    public var listen: [SocketAddress]
    /// Who may connect besides the machine itself; not empty when any listener is not on loopback.
    public var allow: [IPPrefix] = []

    public init(listen: [SocketAddress]) { self.listen = listen }

    /// Whether a client at this address may connect.
    public func allows(_ address: IPAddress) -> Bool {
        address.isLoopback || allow.contains { $0.contains(address) }
    }
}
