/// From JSON5 to a configuration: which keys there are, their ranges, and what must agree with what.

internal import Bytes

extension Configuration {
    /// Reads a whole configuration, or says what is wrong with it.
    public static func parse(_ bytes: Span<UInt8>) throws(ConfigurationError) -> Configuration {
        do throws(ConfigurationError) {
            return try Configuration(JSON5Reader.read(bytes))
        } catch {
            throw error.recognising(bytes)
        }
    }

    /// Reads a whole configuration, or says what is wrong with it.
    public static func parse(_ bytes: [UInt8]) throws(ConfigurationError) -> Configuration {
        try parse(bytes.span)
    }

    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(value, path: "", keys: ConfigurationKeys.top)
        profiles = try Self.profiles(section)
        active = profiles[0].id
        tunnel = try Self.tunnel(section)
        if let value = section["network"] { network = try NetworkOptions(value) }
        try section.read("ipv6", into: &ipv6)
        dns = try Self.dns(section, setup: network.setup)
        socks = try InboundOptions.read(section, "socks", port: InboundOptions.socksPort, orElse: socks)
        http = try InboundOptions.read(section, "http", port: InboundOptions.httpPort, orElse: nil)
        if let id = try section.text("active", "the id of a profile") { active = id }
        health = try HealthOptions.read(section)
        if let text = try section.text("egress", "\"direct\" or the id of a profile") {
            egress = text == "direct" ? .direct : .profile(text)
        }
        ruleSets = try RuleSetFile.list(section)
        if let value = section["phones"] { phones = try PhoneOptions(value) }
        state = try Self.state(section)
        if let value = section["limits"] { limits = try Limits(value) }
        if let value = section["log"] { log = try LogOptions(value) }
        try readLab(section)
        if !ipv6 { dns.families = .ipv4 }
        do throws(ConfigurationError) {
            try check()
        } catch {
            var error = error
            error.position = value.position(of: error.path)
            throw error
        }
    }

    /// What is about devices, and about those who tell the gateway what to do with them.
    private mutating func readLab(_ section: Section) throws(ConfigurationError) {
        try section.read("clock", into: &clock)
        gateway = try section.optionalIdentifier("gateway")
        devices = try DeviceOptions.list(section)
        try section.read("newDevices", into: &newDevices)
        if case .boolean(false)? = section["lease"]?.content {
            lease = nil
        } else if let value = section["lease"] {
            lease = try section.duration(value, "lease", within: .seconds(60) ... .hours(24 * 365))
        }
        let file = "the absolute path of a DHCP server's lease file"
        leases = try section.text("leases", file, limit: 4095)
        if let leases, !leases.hasPrefix("/") || leases.hasSuffix("/") {
            throw section.error(.badValue, "leases", found: Shown.text(leases), expected: file)
        }
        keys = try KeyOptions.list(section)
        control = try ControlOptions.read(section)
        push = try PushOptions.read(section)
        peers = try PeerOptions.list(section)
        try section.read("peerWait", into: &peerWait, within: .zero ... .hours(24))
        metrics = try MetricsOptions.read(section)
        page = try PageOptions.read(section, setup: network.setup)
        adhoc = try AdhocOptions.read(section)
    }

    private static func tunnel(_ section: Section) throws(ConfigurationError) -> TunnelOptions? {
        guard let value = section["tun"] else { return TunnelOptions() }
        if case .boolean(false) = value.content { return nil }
        return try TunnelOptions(value)
    }

    /// The name service: there is one when it is asked for, or when the gateway makes the routes.
    private static func dns(
        _ section: Section, setup: NetworkOptions.Setup
    ) throws(ConfigurationError) -> DNSOptions {
        var dns = DNSOptions()
        guard let value = section["dns"] else {
            if setup != .none { dns.mode = .fake }
            return dns
        }
        if case .boolean(false) = value.content { return dns }
        dns.mode = .fake
        try dns.read(value)
        return dns
    }

    private static func state(_ section: Section) throws(ConfigurationError) -> String? {
        let expected = "the absolute path of a directory, or false"
        if case .boolean(false)? = section["state"]?.content { return nil }
        guard let path = try section.text("state", expected, limit: 4095) else { return stateDirectory }
        guard path.hasPrefix("/") else {
            throw section.error(.badValue, "state", found: Shown.text(path), expected: expected)
        }
        return path
    }

    private static func profiles(_ section: Section) throws(ConfigurationError) -> [Profile] {
        let expected = "a list of profiles"
        _ = try section.required("profiles", expected)
        let list = try section.list("profiles", expected, limit: 1024)
        guard !list.isEmpty else {
            throw section.error(.missingKey, "profiles", found: "an empty list", expected: "at least one profile")
        }
        var profiles: [Profile] = []
        var seen: [String: Int] = [:]
        for (index, value) in list.enumerated() {
            let profile = try Profile(value, path: "profiles[\(index)]")
            if let first = seen.updateValue(index, forKey: profile.id) {
                throw ConfigurationError(
                    .duplicateKey, at: value.position(of: "id"), path: "profiles[\(index)].id",
                    found: "\(Shown.text(profile.id)), which profiles[\(first)] has", expected: "an id of its own")
            }
            profiles.append(profile)
        }
        return profiles
    }
}

extension TunnelOptions {
    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(value, path: "tun", keys: ConfigurationKeys.tun)
        if let found = try section.interface("name") { name = found }
        // 1280 is the least that IPv6 runs over (RFC 8200, section 5).
        try section.read("mtu", into: &mtu, within: 1280...65535)
        var count = 0
        try section.read("workers", into: &count, within: 1...64)
        if count > 0 { workers = count }
        try section.read("offload", into: &offload)
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
