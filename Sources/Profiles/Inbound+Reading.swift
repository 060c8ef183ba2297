/// The `socks` and `http` objects, and who may reach them.

internal import Addresses

extension InboundOptions {
    /// Reads one of the two inbounds; false turns it off.
    static func read(
        _ top: Section, _ key: String, port: UInt16, orElse absent: InboundOptions?
    ) throws(ConfigurationError) -> InboundOptions? {
        guard let value = top[key] else { return absent }
        if case .boolean(false) = value.content { return nil }
        let isHTTP = key == "http"
        let section = try Section(value, path: key, keys: isHTTP ? ConfigurationKeys.http : ConfigurationKeys.socks)
        var inbound = InboundOptions(port: port)
        try inbound.readListeners(section, port: port)
        inbound.allow = try section.networks("allow")
        try inbound.readUsers(section)
        if isHTTP { try section.read("outbound", into: &inbound.outbound) }
        try inbound.checkReach(section)
        return inbound
    }

    private mutating func readListeners(_ section: Section, port: UInt16) throws(ConfigurationError) {
        guard let found = try section.listeners(port: port) else { return }
        guard !found.isEmpty else {
            throw section.error(
                .badValue, "listen", found: "an empty list",
                expected: "an address and a port, such as \"127.0.0.1:\(port)\" or \"[::1]:\(port)\"",
                hint: "\(section.path): false turns it off")
        }
        listen = found
    }

    private mutating func readUsers(_ section: Section) throws(ConfigurationError) {
        let expected = "a list of { name, passwordFile }"
        for (index, value) in try section.list("users", expected, limit: 256).enumerated() {
            let path = "\(Shown.path(section.path, "users"))[\(index)]"
            let user = try Section(value, path: path, keys: ConfigurationKeys.user)
            _ = try user.required("name", "a user's name")
            _ = try user.required("passwordFile", "the path of a file")
            guard let name = try user.text("name", "a user's name"),
                let file = try user.text("passwordFile", "the path of a file", limit: 4095)
            else { continue }
            guard section.path != "http" || !name.utf8.contains(UInt8(ascii: ":")) else {
                throw user.error(
                    .badValue, "name", found: "a name with a colon", expected: "a user's name without one",
                    hint: "Basic authentication ends the name there (RFC 7617)")
            }
            guard !users.contains(where: { $0.name == name }) else {
                throw user.error(
                    .duplicateKey, "name", found: "a name that is there already", expected: "each name once")
            }
            users.append(User(name: name, passwordFile: file))
        }
    }

    /// A listener that strangers can reach must say whom it serves.
    private func checkReach(_ section: Section) throws(ConfigurationError) {
        if let open = listen.first(where: { !$0.address.isLoopback }), allow.isEmpty {
            throw section.error(
                .conflict, "allow", found: "a listener on \(open) and no `allow`",
                expected: "the networks that may use it, such as [\"192.168.50.0/24\"]",
                hint: "on a loopback address it needs none")
        }
        if users.isEmpty, let all = allow.first(where: { $0.length == 0 }) {
            throw section.error(
                .conflict, "allow", found: "\"\(all)\", which is everybody",
                expected: "the networks of your lab, or users",
                hint: "without users this is a proxy for the whole Internet")
        }
    }
}

extension Section {
    /// Reads a list of networks.
    func networks(_ key: String) throws(ConfigurationError) -> [IPPrefix] {
        let expected = "a list of networks, such as [\"192.168.50.0/24\"]"
        var networks: [IPPrefix] = []
        for value in try list(key, expected, limit: 256) {
            guard case .string(let text) = value.content else {
                throw error(.wrongType, key, found: "\(value.kind) in the list", expected: expected)
            }
            guard let network = IPPrefix(parsing: text) else {
                throw error(
                    .badValue, key, found: Shown.text(text), expected: expected, hint: Shown.network(around: text),
                    at: value)
            }
            networks.append(network)
        }
        return networks
    }

    /// Reads `listen`: one address and port, or a list of them.
    func listeners(_ key: String = "listen", port: UInt16) throws(ConfigurationError) -> [SocketAddress]? {
        guard let value = self[key] else { return nil }
        let expected = "an address and a port, such as \"127.0.0.1:\(port)\" or \"[::1]:\(port)\""
        var values = [value]
        if case .array = value.content { values = try list(key, expected, limit: 8) }
        var listen: [SocketAddress] = []
        for value in values {
            guard case .string(let text) = value.content else {
                throw error(.wrongType, key, found: value.kind, expected: expected, at: value)
            }
            do throws(HostMistake) {
                let endpoint = try HostText.endpoint(text, defaultPort: port)
                guard !listen.contains(endpoint) else { throw HostMistake(found: "\(endpoint) twice") }
                listen.append(endpoint)
            } catch {
                throw self.error(
                    .badValue, key, found: error.found, expected: expected, hint: error.hint, at: value)
            }
        }
        return listen
    }
}

extension Shown {
    /// Advice for the most frequent slip in a network: an address within it.
    static func network(around text: String) -> String? {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let address = IPAddress(parsing: parts[0]), let length = Int(parts[1]),
            let network = IPPrefix(address, length: length)
        else { return nil }
        return "the network that it lies in is \(network)"
    }
}
