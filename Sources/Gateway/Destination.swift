/// What is known about where a flow goes: an address, a name, and who said so.

import Addresses
import Flows
import Routing
import Wire

/// Who named a flow's target; the words of the flow log.
enum NameSource: String, Sendable {
    /// Nobody: the address is the name.
    case address
    /// The fake address that DNS gave for it.
    case fake = "fake-ip"
    /// A real answer that DNS gave this device.
    case answer = "dns"
    /// The server name of a TLS ClientHello (RFC 6066, section 3).
    case sni
    /// The Host of an HTTP request.
    case host
    /// A SOCKS5 or HTTP client.
    case client
}

struct Destination: Sendable {
    /// What an upstream is asked for.
    var target: Target
    /// Lower-case A-labels; nil when none is known.
    var name: String?
    var source = NameSource.address
    /// The real address; nil while only the name is known.
    var address: IPAddress?
    /// Every name that DNS gave this device for the address, the latest first.
    var alternatives: [String] = []

    /// An address and nothing else; the IPv4 address inside where it stands for one (RFC 6052).
    init(_ target: SocketAddress) {
        self.target = Target(target)
        address = target.address
    }

    /// What a flow that is open already was decided by.
    init(_ target: Target, name: String?, source: NameSource) {
        self.target = target
        self.name = name
        self.source = source
        if case .address(let address) = target.host { self.address = address }
    }

    /// A name that stands for itself.
    init(name: String, port: UInt16, source: NameSource) {
        target = Target(host: .name(name), port: port)
        self.name = name
        self.source = source
    }

    /// What the rules are asked.
    func query(from device: IPAddress, _ network: Network = .tcp) -> RouteQuery {
        RouteQuery(name: name, address: address, port: target.port, source: device, network: network)
    }
}
