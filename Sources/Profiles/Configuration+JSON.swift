/// Writing a configuration in its own notation: what is as by default is left out.

internal import Addresses
internal import Bytes

extension Configuration {
    /// The configuration as `parse` reads it, on its own: it starts a gateway in the same state.
    ///
    /// Of secrets it has the names of their files. A password that came without a file can't be written, so its user
    /// isn't either. Relative paths mean what they meant before, from the same directory.
    public var json: JSON {
        var members: [JSON.Member] = []
        if let gateway { members.add("gateway", .string(gateway)) }
        members.add("tun", tunnel.map(\.json) ?? false, unless: TunnelOptions().json)
        members.add("network", network.json, unless: NetworkOptions().json)
        members.add("ipv6", .boolean(ipv6), unless: true)
        if let dns = dns.json(setup: network.setup) { members.add("dns", dns) }
        let socksDefault = InboundOptions(port: InboundOptions.socksPort)
        members.add("socks", socks.map { $0.json(unless: socksDefault) } ?? false, unless: .object([]))
        if let http { members.add("http", http.json(unless: InboundOptions(port: InboundOptions.httpPort))) }
        members.add("profiles", .array(profiles.map(\.json)))
        members.add("active", .string(active))
        members.add("health", health.json, unless: .object([]))
        if case .profile(let id) = egress { members.add("egress", .string(id)) }
        members.add("ruleSets", .array(ruleSets.map(\.json)), unless: .array([]))
        members.add("phones", phones.json, unless: .object([]))
        members.add("state", state.map(JSON.string) ?? false, unless: .string(Self.stateDirectory))
        members.add("limits", limits.json, unless: .object([]))
        members.add("log", log.json, unless: .object([]))
        return .object(members + labMembers)
    }

    /// What is about devices, and about those who tell the gateway what to do with them.
    private var labMembers: [JSON.Member] {
        var members: [JSON.Member] = []
        members.add("clock", clock, unless: .kernel)
        members.add("devices", .array(devices.map(\.json)), unless: .array([]))
        members.add("newDevices", newDevices, unless: .default)
        members.add("lease", lease.map(JSON.duration) ?? false, unless: .duration(.hours(12)))
        if let leases { members.add("leases", .string(leases)) }
        members.add("keys", .array(keys.map(\.json)), unless: .array([]))
        members.add("control", control.map(\.json) ?? false, unless: .object([]))
        if let push { members.add("push", push.json) }
        members.add("peers", .array(peers.map(\.json)), unless: .array([]))
        members.add("peerWait", peerWait, unless: .seconds(300))
        if let metrics { members.add("metrics", metrics.json) }
        if network.setup == .gateway { members.add("page", page.map(\.json) ?? false, unless: .object([])) }
        if let adhoc { members.add("adhoc", adhoc.json) }
        return members
    }
}

extension [JSON.Member] {
    mutating func add(_ key: String, _ value: JSON, unless default: JSON? = nil) {
        if value != `default` { append(JSON.Member(key, value)) }
    }

    mutating func add<Word: RawRepresentable<String> & Equatable>(_ key: String, _ word: Word, unless default: Word) {
        if word != `default` { append(JSON.Member(key, .string(word.rawValue))) }
    }

    mutating func add(_ key: String, _ interval: Interval, unless default: Interval) {
        if interval != `default` { append(JSON.Member(key, .duration(interval))) }
    }

    mutating func add(_ key: String, _ number: Int, unless default: Int) {
        if number != `default` { append(JSON.Member(key, .integer(number))) }
    }

    mutating func add(_ key: String, size: Int, unless default: Int) {
        if size != `default` { append(JSON.Member(key, .string(Quantity.text(octets: size)))) }
    }

    mutating func add(_ key: String, _ flag: Bool, unless default: Bool) {
        if flag != `default` { append(JSON.Member(key, .boolean(flag))) }
    }

    mutating func add(_ key: String, _ texts: [RuleText]) {
        if !texts.isEmpty { append(JSON.Member(key, .strings(texts.map(\.text)))) }
    }

    /// Adds a list of what is written as it is described.
    mutating func add(_ key: String, described list: [some CustomStringConvertible]) {
        if !list.isEmpty { append(JSON.Member(key, .strings(list.map(\.description)))) }
    }
}

extension JSON {
    /// A duration with its unit.
    static func duration(_ interval: Interval) -> JSON { .string(Quantity.text(interval)) }
}

extension TunnelOptions {
    fileprivate var json: JSON {
        let usual = TunnelOptions()
        var members: [JSON.Member] = []
        members.add("name", .string(name), unless: .string(usual.name))
        members.add("mtu", mtu, unless: usual.mtu)
        if let workers { members.add("workers", .integer(workers)) }
        members.add("offload", offload, unless: usual.offload)
        return .object(members)
    }
}

extension NetworkOptions {
    fileprivate var json: JSON {
        let usual = NetworkOptions()
        var members: [JSON.Member] = []
        members.add("setup", setup, unless: usual.setup)
        members.add("lan", .array(lan.map(\.json)), unless: .array([]))
        if let uplink { members.add("uplink", .string(uplink)) }
        if mark != usual.mark {
            let word = { (value: UInt32) in "0x" + String(value, radix: 16) }
            members.add("mark", .string("\(word(mark.value))/\(word(mark.mask))"))
        }
        members.add("masquerade", masquerades, unless: usual.masquerades)
        members.add("whenDown", whenDown, unless: usual.whenDown)
        return .object(members)
    }
}

extension NetworkOptions.LAN {
    fileprivate var json: JSON {
        guard let profile else { return .string(interface) }
        return .members(["interface": .string(interface), "profile": .string(profile)])
    }
}

extension DNSOptions {
    /// Nil where the setup alone says the same.
    fileprivate func json(setup: NetworkOptions.Setup) -> JSON? {
        let usual = DNSOptions()
        var members: [JSON.Member] = []
        members.add("mode", mode, unless: .fake)
        members.add("listen", described: listen)
        if resolvers != usual.resolvers { members.add("resolvers", described: resolvers) }
        members.add("order", order, unless: usual.order)
        members.add("timeout", timeout, unless: usual.timeout)
        members.add("cache", cache, unless: usual.cache)
        members.add("maxTTL", maximumTTL, unless: usual.maximumTTL)
        members.add("families", families, unless: usual.families)
        members.add("pool", .string(pool.description), unless: .string(usual.pool.description))
        members.add("pool6", .string(pool6.description), unless: .string(usual.pool6.description))
        members.add("local", described: local)
        guard setup == .none else { return members.isEmpty ? nil : .object(members) }
        return self == usual ? nil : .object(members)
    }
}

extension InboundOptions {
    fileprivate func json(unless usual: InboundOptions) -> JSON {
        var members: [JSON.Member] = []
        if listen != usual.listen { members.add("listen", described: listen) }
        members.add("allow", described: allow)
        let users = users.map { user -> JSON in
            .members(["name": .string(user.name), "passwordFile": .string(user.passwordFile)])
        }
        members.add("users", .array(users), unless: .array([]))
        members.add("outbound", outbound, unless: usual.outbound)
        return .object(members)
    }
}

extension RuleSetFile {
    fileprivate var json: JSON {
        var members = [JSON.Member("name", .string(name)), JSON.Member("file", .string(file))]
        members.add("format", format, unless: .auto)
        return .object(members)
    }
}

extension PhoneOptions {
    fileprivate var json: JSON {
        let usual = PhoneOptions()
        var members: [JSON.Member] = []
        members.add("connectivity", connectivity, unless: usual.connectivity)
        members.add("push", push, unless: usual.push)
        members.add("ntp", ntp, unless: usual.ntp)
        members.add("ike", ike, unless: usual.ike)
        members.add("privateRelay", privateRelay, unless: usual.privateRelay)
        members.add("doh", doh, unless: usual.doh)
        members.add("dot", dot, unless: usual.dot)
        if let lists { members.add("lists", .string(lists)) }
        return .object(members)
    }
}

extension LogOptions {
    fileprivate var json: JSON {
        let usual = LogOptions()
        var members: [JSON.Member] = []
        members.add("level", level, unless: usual.level)
        members.add("format", format, unless: usual.format)
        members.add("flows", flows, unless: usual.flows)
        return .object(members)
    }
}
