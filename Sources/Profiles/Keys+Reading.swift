/// The `keys` list, and the `control` and `push` objects.

internal import Addresses
internal import Bytes
internal import Routing

extension KeyOptions {
    /// Reads the keys at the top of the file.
    static func list(_ top: Section) throws(ConfigurationError) -> [KeyOptions] {
        var keys: [KeyOptions] = []
        for (index, value) in try top.list("keys", "a list of { id, file, scope, … }", limit: 256).enumerated() {
            let section = try Section(value, path: "keys[\(index)]", keys: ConfigurationKeys.key)
            let key = try KeyOptions(section)
            for (number, other) in keys.enumerated() {
                guard key.id != other.id else {
                    throw section.error(
                        .duplicateKey, "id", found: "\(Shown.text(key.id)), which keys[\(number)] has",
                        expected: "an id of its own")
                }
                guard key.file != other.file else {
                    throw section.error(
                        .duplicateKey, "file", found: "the file of keys[\(number)]", expected: "a key of its own",
                        hint: "two names for one secret could not be revoked singly")
                }
            }
            keys.append(key)
        }
        return keys
    }

    private init(_ section: Section) throws(ConfigurationError) {
        let path = "the path of a key file"
        id = try section.identifier("id")
        _ = try section.required("file", path)
        file = try section.text("file", path, limit: 4095) ?? ""
        guard HostText.scheme(file) == nil, !file.hasSuffix("/") else {
            throw section.error(
                .badValue, "file", found: file.hasSuffix("/") ? "a directory" : "a URL", expected: path,
                hint: "keys are files on this machine: starshipctl keygen")
        }
        hosts = try Self.hosts(section)
        scope = try Self.scope(section) ?? scope
        until = try section.endOfDay("until")
        try section.read("revoked", into: &isRevoked)
    }

    private static func hosts(_ section: Section) throws(ConfigurationError) -> [RuleText]? {
        guard section["hosts"] != nil else { return nil }
        let hosts = try section.texts("hosts", "a list such as [\"*.qa.example\", \"10.0.0.0/8\"]", limit: 1024)
        for (index, host) in hosts.enumerated() {
            do throws(RoutingError) {
                _ = try RuleSet(domains: [SourceText(text: host.text)], bypass: [], rules: [])
            } catch {
                throw ConfigurationError(
                    .rule, at: host.position, path: "\(section.path).hosts[\(index)]", found: error.found,
                    expected: error.expected, hint: error.hint)
            }
        }
        return hosts
    }

    private static func scope(_ section: Section) throws(ConfigurationError) -> Set<LinkKey.Scope>? {
        guard section["scope"] != nil else { return nil }
        let words = LinkKey.Scope.allCases.map { "\"\($0.rawValue)\"" }
        let expected = "a list of " + words.joined(separator: " and ")
        var scope: Set<LinkKey.Scope> = []
        for entry in try section.texts("scope", expected, limit: words.count) {
            guard let found = LinkKey.Scope(rawValue: entry.text), scope.insert(found).inserted else {
                let near = NearMiss.suggestion(for: entry.text, among: LinkKey.Scope.allCases.map(\.rawValue))
                throw section.error(
                    .badValue, "scope", found: "\(Shown.text(entry.text)) in the list", expected: expected,
                    hint: near.flatMap { $0 == entry.text ? "each once" : "did you mean \"\($0)\"?" })
            }
        }
        guard !scope.isEmpty else {
            throw section.error(
                .badValue, "scope", found: "an empty list", expected: expected,
                hint: "revoked: true makes a key void")
        }
        return scope
    }
}

extension ControlOptions {
    /// Reads the object; false: there is no control socket.
    static func read(_ top: Section) throws(ConfigurationError) -> ControlOptions? {
        guard let value = top["control"] else { return ControlOptions() }
        if case .boolean(false) = value.content { return nil }
        let section = try Section(value, path: "control", keys: ConfigurationKeys.control)
        var control = ControlOptions()
        // What is left of the 108 octets of sun_path (unix(7)) beside the octet that ends it.
        let place = "the absolute path of a socket, at most 107 octets"
        if let socket = try section.text("socket", place, limit: 107) {
            guard socket.hasPrefix("/"), !socket.hasSuffix("/") else {
                throw section.error(.badValue, "socket", found: Shown.text(socket), expected: place)
            }
            control.socket = socket
        }
        let group = "the name of a Unix group"
        control.group = try section.text("group", group, limit: 32)
        if let name = control.group, !Self.isGroup(name) {
            throw section.error(.badValue, "group", found: Shown.text(name), expected: group)
        }
        return control
    }

    private static func isGroup(_ name: String) -> Bool {
        let isPlain = name.unicodeScalars.allSatisfy { $0.isASCIILetterOrDigit || "-._".unicodeScalars.contains($0) }
        return isPlain && name.unicodeScalars.first.map { $0.isASCIILetterOrDigit || $0 == "_" } == true
    }
}

extension PushOptions {
    /// Reads the object; it is off unless there is one.
    static func read(_ top: Section) throws(ConfigurationError) -> PushOptions? {
        guard let value = top["push"] else { return nil }
        if case .boolean(false) = value.content { return nil }
        let section = try Section(value, path: "push", keys: ConfigurationKeys.push)
        let expected = "an address and a port, such as \"192.168.50.1:\(port)\""
        _ = try section.required("listen", expected)
        let listen = try section.listeners(port: port) ?? []
        guard !listen.isEmpty else {
            throw section.error(
                .badValue, "listen", found: "an empty list", expected: expected, hint: "push: false turns it off")
        }
        var push = PushOptions(listen: listen)
        push.allow = try section.networks("allow")
        if let open = listen.first(where: { !$0.address.isLoopback }), push.allow.isEmpty {
            throw section.error(
                .conflict, "allow", found: "a listener on \(open) and no `allow`",
                expected: "the networks that may push, such as [\"192.168.50.0/24\"]")
        }
        if let all = push.allow.first(where: { $0.length == 0 }) {
            throw section.error(
                .conflict, "allow", found: "\"\(all)\", which is everybody", expected: "the networks of your lab",
                hint: "signatures keep nothing secret")
        }
        return push
    }
}
