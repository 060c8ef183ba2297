/// From JSON5 to a configuration: which keys there are, their ranges, and what must agree with what.

internal import Addresses
internal import Bytes

extension Configuration {
    /// Reads a whole configuration, or says what is wrong with it.
    public static func parse(_ bytes: Span<UInt8>) throws(ConfigurationError) -> Configuration {
        try Configuration(JSON5Reader.read(bytes))
    }

    /// Reads a whole configuration, or says what is wrong with it.
    public static func parse(_ bytes: [UInt8]) throws(ConfigurationError) -> Configuration {
        try parse(bytes.span)
    }

    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(
            value, path: "", keys: ConfigurationKeys.top, later: ConfigurationKeys.laterTop)
        profiles = try Self.profiles(section)
        active = profiles[0].id
        tunnel = try Self.tunnel(section)
        if let value = section["network"] { network = try NetworkOptions(value) }
        socks = try InboundOptions.read(section, "socks", port: InboundOptions.socksPort, orElse: socks)
        http = try InboundOptions.read(section, "http", port: InboundOptions.httpPort, orElse: nil)
        if let value = section["limits"] { limits = try Limits(value) }
        if let value = section["log"] { log = try LogOptions(value) }
        if let name = try section.text("active", "the id of a profile") {
            guard profiles.contains(where: { $0.id == name }) else {
                let near = NearMiss.suggestion(for: name, among: profiles.map(\.id))
                throw section.error(
                    .conflict, "active", found: Shown.text(name),
                    expected: "one of " + profiles.map { "\"\($0.id)\"" }.joined(separator: ", "),
                    hint: near.map { "did you mean \"\($0)\"?" })
            }
            active = name
        }
        do throws(ConfigurationError) {
            try check()
        } catch {
            var error = error
            error.position = section[error.path]?.position ?? section.position
            throw error
        }
    }

    private static func tunnel(_ section: Section) throws(ConfigurationError) -> TunnelOptions? {
        guard let value = section["tun"] else { return TunnelOptions() }
        if case .boolean(false) = value.content { return nil }
        return try TunnelOptions(value)
    }

    private static func profiles(_ section: Section) throws(ConfigurationError) -> [Profile] {
        let expected = "a list with one profile"
        _ = try section.required("profiles", expected)
        let list = try section.list("profiles", expected, limit: 1024)
        guard !list.isEmpty else {
            throw section.error(.missingKey, "profiles", found: "an empty list", expected: expected)
        }
        guard list.count == 1 else {
            throw section.error(
                .notYet, "profiles", found: "a list of \(list.count)", expected: expected,
                hint: "more than one profile is not in this version yet")
        }
        return [try Profile(list[0], path: "profiles[0]")]
    }

}

extension Configuration {
    /// Checks what the ways in and the upstream must agree on; the error names the key that it is about.
    func check() throws(ConfigurationError) {
        guard tunnel != nil || socks != nil || http != nil else {
            throw ConfigurationError(
                .conflict, at: nil, path: "tun", found: "neither tun nor socks nor http",
                expected: "at least one way in")
        }
        if let socks, let http, let shared = socks.listen.first(where: http.listen.contains) {
            throw ConfigurationError(
                .conflict, at: nil, path: "http", found: "\(shared), where socks listens",
                expected: "an address of its own")
        }
        guard case let server? = activeProfile.upstream.server, case .address(let address) = server.host else { return }
        for (key, inbound) in [("socks", socks), ("http", http)] {
            guard let inbound, inbound.outbound == .active else { continue }
            let isOwn = inbound.listen.contains {
                $0.port == server.port && ($0.address == address || $0.address.isUnspecified && address.isLoopback)
            }
            guard !isOwn else {
                throw ConfigurationError(
                    .conflict, at: nil, path: "profiles", found: "the upstream \(server), where \(key) listens",
                    expected: "an upstream that is not this gateway itself",
                    hint: key == "http" ? "with http.outbound: \"direct\" it can be one" : nil)
            }
        }
    }

    /// The same configuration with another upstream in its active profile.
    public func replacingUpstream(by upstream: Upstream) throws(ConfigurationError) -> Configuration {
        var changed = self
        for index in profiles.indices where profiles[index].id == active {
            changed.profiles[index].upstream = upstream
        }
        try changed.check()
        return changed
    }
}

extension TunnelOptions {
    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(value, path: "tun", keys: ConfigurationKeys.tun)
        let expected = "an interface name of 1 to 15 letters, digits, hyphens, dots and underscores"
        if let text = try section.text("name", expected) {
            let isPlain = text.unicodeScalars.allSatisfy {
                $0.isASCIILetterOrDigit || "-._".unicodeScalars.contains($0)
            }
            guard isPlain, text.utf8.count <= 15, text != ".", text != ".." else {
                throw section.error(.badValue, "name", found: Shown.text(text), expected: expected)
            }
            name = text
        }
        // 1280 is the least that IPv6 runs over (RFC 8200, section 5).
        try section.read("mtu", into: &mtu, within: 1280...65535)
        try section.read("workers", into: &workers, within: 1...64)
        try section.read("offload", into: &offload)
    }
}

extension NetworkOptions {
    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(
            value, path: "network", keys: ConfigurationKeys.network, later: ConfigurationKeys.laterNetwork)
        try section.read("setup", into: &setup)
        guard setup == .none else {
            throw section.error(
                .notYet, "setup", found: "\"\(setup.rawValue)\"", expected: "\"none\"",
                hint: "the gateway does not set up the network in this version yet: make the routes yourself")
        }
        let expected = "a mark and a mask, such as \"0x53000000/0xff000000\""
        guard let text = try section.text("mark", expected) else { return }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let value = Quantity.word(parts[0]), let mask = Quantity.word(parts[1]) else {
            throw section.error(.badValue, "mark", found: Shown.text(text), expected: expected)
        }
        guard value != 0, value & ~mask == 0 else {
            throw section.error(
                .badValue, "mark", found: Shown.text(text), expected: "a mark that is not 0 and lies within its mask")
        }
        mark = Mark(value: value, mask: mask)
    }
}

extension LogOptions {
    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(value, path: "log", keys: ConfigurationKeys.log)
        try section.read("level", into: &level)
        try section.read("format", into: &format)
        try section.read("flows", into: &flows)
    }
}

extension Limits {
    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(
            value, path: "limits", keys: ConfigurationKeys.limits, later: ConfigurationKeys.laterLimits)
        try section.read("dial", into: &dial, within: .milliseconds(100) ... .seconds(60))
        try section.read("connect", into: &connect, within: .seconds(1) ... .seconds(120))
        try section.read("attemptDelay", into: &attemptDelay, within: .milliseconds(10) ... .seconds(2))
        try section.read("halfOpen", into: &halfOpen, within: 1...1_048_576)
        try section.read("halfOpenPerDevice", into: &halfOpenPerDevice, within: 1...65_536)
        try section.read("flows", into: &flows, within: 1...1_048_576)
        try section.read("timeWait", into: &timeWait, within: .seconds(1) ... .seconds(240))
        try section.read("halfClose", into: &halfClose, within: .seconds(1) ... .hours(24))
        try section.read("idle", into: &idle, within: .seconds(60) ... .hours(24 * 30))
        try section.read("keepaliveClient", into: &keepaliveClient, within: .hours(2) ... .hours(24 * 30))
        try section.read("keepaliveUpstream", into: &keepaliveUpstream, within: .seconds(5) ... .hours(24))
        try section.read("flowBuffer", intoSize: &flowBuffer, within: 64 << 10...16 << 20)
        try section.read("icmpErrors", into: &icmpErrors, within: 0...10_000)
        try section.read("credentialRetry", into: &credentialRetry, within: .seconds(60) ... .hours(24))
        try readSynAck(section)
        try readBuffers(section)
    }

    private mutating func readSynAck(_ section: Section) throws(ConfigurationError) {
        guard section["synAck"] != nil else { return }
        var waits: [Interval] = []
        for wait in try section.list("synAck", "a list of durations", limit: 8) {
            waits.append(try section.duration(wait, "synAck", within: .milliseconds(200) ... .seconds(60)))
        }
        synAck = waits
    }

    private mutating func readBuffers(_ section: Section) throws(ConfigurationError) {
        if let value = section["buffers"], value.content != .string("auto") {
            var size = 0
            try section.read("buffers", intoSize: &size, within: 1 << 20...64 << 30)
            buffers = size
        }
        if let buffers, buffers < flowBuffer {
            throw section.error(
                .conflict, "buffers", found: "\"\(Quantity.text(octets: buffers))\"",
                expected: "at least what one flow may hold, \"\(Quantity.text(octets: flowBuffer))\"",
                hint: "flowBuffer is the bound for one flow")
        }
        if halfOpenPerDevice > halfOpen {
            throw section.error(
                .conflict, "halfOpenPerDevice", found: "\(halfOpenPerDevice)",
                expected: "no more than halfOpen, which is \(halfOpen)")
        }
    }
}
