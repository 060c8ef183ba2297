/// Writing a profile in the configuration's notation.

internal import Addresses

extension Profile {
    /// The profile as a configuration has it; what is as by default is left out.
    ///
    /// Reading it gives an equal profile, but for a password that came without a file: that can't be written, so its
    /// user isn't either.
    public var json: JSON {
        var members = [JSON.Member("id", .string(id))]
        members.add("name", .string(name), unless: .string(id))
        members.add("selfService", isSelfService, unless: false)
        members.add("upstream", upstream.json)
        members.add("domains", routes.domains)
        members.add("bypass", routes.bypass)
        members.add("rules", routes.rules)
        let usual = RouteOptions()
        members.add("capture", routes.capture, unless: usual.capture)
        members.add("connectName", routes.connectName, unless: usual.connectName)
        members.add("sniff", routes.sniff, unless: usual.sniff)
        members.add("udp", routes.udp, unless: usual.udp)
        members.add("health", health.map(\.json) ?? false, unless: .object([]))
        return .object(members)
    }
}

extension Upstream {
    fileprivate var json: JSON {
        var members = [JSON.Member("type", .string(type.rawValue))] + (group?.keys ?? [])
        switch server?.host {
        case .name(let name)?: members.add("host", .string(name))
        case .address(let address)?: members.add("host", .string(address.description))
        case nil: break
        }
        if let server { members.add("port", .integer(Int(server.port))) }
        if let credentials, case .file(let path) = credentials.password {
            members.add("user", .string(credentials.user))
            members.add("passwordFile", .string(path))
        }
        let usual = Upstream(type: type, server: server)
        members.add("auth", authentication, unless: usual.authentication)
        members.add("identify", identify, unless: usual.identify)
        members.add("kind", kind, unless: usual.kind)
        members.add("halfClose", halfClose, unless: usual.halfClose)
        members.add("http80", plainHTTP, unless: usual.plainHTTP)
        return .object(members)
    }
}
