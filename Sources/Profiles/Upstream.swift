/// A profile and the proxy that it names.

public import Addresses

/// One environment to switch to.
public struct Profile: Equatable, Sendable {
    public var id: String
    public var name: String
    public var upstream: Upstream
    public var routes = RouteOptions()
    /// What it says about its probes; nil with `health: false`: there are none.
    public var health: HealthKeys? = HealthKeys()
    /// Whether any device may pick it for itself, by the page or a printed code.
    public var isSelfService = false

    public init(id: String, name: String, upstream: Upstream) {
        self.id = id
        self.name = name
        self.upstream = upstream
    }
}

/// Where streams go, and how this proxy likes to be talked to.
public struct Upstream: Equatable, Sendable {
    public var type: UpstreamType
    /// Nil for `direct` and for a group.
    public var server: Server?
    /// Its members and how they are chosen; nil for everything but a group.
    public var group: GroupOptions?
    public var credentials: CredentialSource?
    public var authentication = Authentication.preemptive
    /// Whether requests carry the device's address and name.
    public var identify = false
    public var kind = Kind.other
    public var halfClose = HalfClose.pass
    public var plainHTTP = PlainHTTP.auto

    public init(type: UpstreamType, server: Server?) {
        self.type = type
        self.server = server
    }

    /// How the upstream is reached.
    public enum UpstreamType: String, CaseIterable, Sendable {
        case http
        case socks5
        case direct
        /// One of several upstreams, each with a profile of its own.
        case group
    }

    /// When credentials are sent.
    public enum Authentication: String, CaseIterable, Sendable {
        /// With the first CONNECT.
        case preemptive
        /// When the proxy asks for them.
        case challenge
    }

    /// Which program it is, for advice in messages; the gateway talks to all of them alike.
    public enum Kind: String, CaseIterable, Sendable {
        case other
        case whistle
        case charles
        case mitmproxy
        case proxyman
        case squid
        case tinyproxy
    }

    /// What becomes of the device's FIN.
    public enum HalfClose: String, CaseIterable, Sendable {
        case pass
        /// It is kept back until the upstream has closed, for proxies that end a tunnel at a half-close.
        case hold
    }

    /// How plain http on port 80 goes through an HTTP proxy.
    public enum PlainHTTP: String, CaseIterable, Sendable {
        /// CONNECT, and after a 403 or 405 in absolute form.
        case auto
        case connect
        case absolute
    }

    /// The proxy's host and port.
    public struct Server: Equatable, Sendable, CustomStringConvertible {
        public var host: Host
        public var port: UInt16

        public init(host: Host, port: UInt16) {
            self.host = host
            self.port = port
        }

        /// `proxy.example:8080`, `[2001:db8::1]:8080`.
        public var description: String {
            switch host {
            case .address(let address): SocketAddress(address, port).description
            case .name(let name): "\(name):\(port)"
            }
        }
    }

    /// A name or an address.
    public enum Host: Equatable, Sendable {
        case address(IPAddress)
        case name(String)
    }
}

extension Upstream.Server {
    /// A proxy whose host is a text, as in a configuration; nil for what is no host or no port.
    public init?(host text: String, port: Int) {
        guard let port = UInt16(exactly: port), port > 0, let host = try? HostText.host(text) else { return nil }
        self.init(host: host, port: port)
    }
}
