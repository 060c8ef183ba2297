/// The profile and its upstream: what belongs to which type, and hosts written any other way.

extension Profile {
    /// Reads a profile; with an `id` from elsewhere the object may leave it out, or must say the same.
    init(_ value: JSON5Value, path: String, id given: String? = nil) throws(ConfigurationError) {
        let section = try Section(
            value, path: path, keys: ConfigurationKeys.profile, later: ConfigurationKeys.laterProfile)
        id = try Self.id(section, given: given)
        guard !Self.reserved.contains(id.lowercased()) else {
            throw section.error(
                .badValue, "id", found: Shown.text(id), expected: "another name",
                hint: "rules and `egress` use this word")
        }
        name = try section.text("name", "a name to show") ?? id
        upstream = try Upstream(
            section.required("upstream", "an object: { type, host, port }"), path: Shown.path(path, "upstream"))
        routes = try RouteOptions(section)
        if let value = section["health"] { health = try Self.health(value, path: path) }
        try section.read("selfService", into: &isSelfService)
    }

    private static func id(_ section: Section, given: String?) throws(ConfigurationError) -> String {
        guard let given else { return try section.identifier("id") }
        guard LinkValues.isIdentifier(given) else {
            throw section.error(.badValue, "id", found: Shown.text(given), expected: Section.identifierForm)
        }
        if let id = try section.optionalIdentifier("id"), id != given {
            throw section.error(
                .conflict, "id", found: Shown.text(id), expected: "\"\(given)\", or no `id`",
                hint: "the request is about that profile")
        }
        return given
    }

    private static func health(_ value: JSON5Value, path: String) throws(ConfigurationError) -> HealthKeys? {
        if case .boolean(false) = value.content { return nil }
        return try HealthKeys(value, path: Shown.path(path, "health"))
    }

    /// What rules and `egress` say without meaning a profile.
    private static let reserved = ["proxy", "direct", "reject"]
}

extension Upstream {
    /// The keys that each type has besides `type`.
    private static func keys(of type: UpstreamType) -> [String] {
        switch type {
        case .http: ["host", "port", "user", "passwordFile", "auth", "identify", "kind", "halfClose", "http80"]
        case .socks5: ["host", "port", "user", "passwordFile", "kind", "halfClose"]
        case .direct: ["kind", "halfClose"]
        case .group: ["choose", "members", "tolerance", "returnAfter", "whenDown"]
        }
    }

    init(_ value: JSON5Value, path: String) throws(ConfigurationError) {
        let section = try Section(value, path: path, keys: ConfigurationKeys.upstream)
        var type = UpstreamType.http
        _ = try section.required("type", "\"http\", \"socks5\", \"direct\" or \"group\"")
        try section.read("type", into: &type)
        self.init(type: type, server: nil)
        let own = Self.keys(of: type)
        for key in ConfigurationKeys.upstream where section[key] != nil && key != "type" {
            guard own.contains(key) else {
                throw section.error(
                    .conflict, key, found: "`\(key)` with type \"\(type.rawValue)\"",
                    expected: "one of \(own.joined(separator: ", "))")
            }
        }
        switch type {
        case .http, .socks5: server = try Self.server(section)
        case .group: group = try GroupOptions(section)
        case .direct: break
        }
        credentials = try Self.credentials(section, type: type)
        try section.read("auth", into: &authentication)
        try section.read("identify", into: &identify)
        try section.read("kind", into: &kind)
        try section.read("halfClose", into: &halfClose)
        try section.read("http80", into: &plainHTTP)
    }

    private static func server(_ section: Section) throws(ConfigurationError) -> Server {
        let expected = "the name or the address of the proxy, alone"
        _ = try section.required("host", expected)
        guard case .string(let text)? = section["host"]?.content else {
            throw section.error(.wrongType, "host", found: section["host"]?.kind ?? "nothing", expected: expected)
        }
        let host: Host
        do throws(HostMistake) {
            host = try HostText.host(text)
        } catch {
            throw section.error(.badValue, "host", found: error.found, expected: expected, hint: error.hint)
        }
        _ = try section.required("port", "a whole number from 1 to 65535")
        var port = 0
        try section.read("port", into: &port, within: 1...65535)
        return Server(host: host, port: UInt16(port))
    }

    private static func credentials(
        _ section: Section, type: UpstreamType
    ) throws(ConfigurationError) -> CredentialSource? {
        // Both lengths stand in one octet of RFC 1929.
        guard let user = try section.text("user", "a user's name") else {
            guard section["passwordFile"] == nil else {
                throw section.error(
                    .missingKey, "user", found: "a passwordFile and no user", expected: "both or neither")
            }
            return nil
        }
        guard type != .http || !user.utf8.contains(UInt8(ascii: ":")) else {
            throw section.error(
                .badValue, "user", found: "a name with a colon", expected: "a user's name without one",
                hint: "Basic authentication ends the name there (RFC 7617)")
        }
        let expected = "the path of the file that holds the password"
        guard let file = try section.text("passwordFile", expected, limit: 4095) else {
            throw section.error(.missingKey, "passwordFile", found: "a user and no passwordFile", expected: expected)
        }
        return CredentialSource(user: user, password: .file(file))
    }
}
