/// A configuration in a few lines for people, without secrets.

internal import Addresses
internal import Devices
internal import Routing

extension ResolvedConfiguration {
    /// What `starshipd check` prints: one line for each part, passwords named by their files alone.
    public var summary: String {
        let options = configuration
        var rows: [(String, String)] = []
        for profile in options.profiles {
            let name = Shown.text(profile.name).dropFirst().dropLast()
            rows.append(
                (
                    "profile",
                    "\(profile.id) (\(name))" + (profile.id == options.active ? ", active" : "")
                        + (profile.isSelfService ? ", self-service" : "")
                ))
            rows.append(("  upstream", profile.upstream.summary))
            rows.append(("  routes", routes(of: profile)))
            rows.append(("  health", options.health(of: profile).summary(of: profile.upstream)))
            rows.append(("  capture", Self.words(capture(of: profile.id), with: profile.routes.capture)))
        }
        rows.append(("egress", options.egress.summary))
        for set in options.ruleSets {
            rows.append(("rule set", "\(set.name), \(set.format.rawValue), \(Shown.text(set.file))"))
        }
        rows.append(("tun", options.tunnel?.summary ?? "off"))
        rows.append(("network", options.network.summary))
        rows.append(("ipv6", options.ipv6 ? "on" : "off: refused in the TUN device, no AAAA for fake names"))
        rows.append(("dns", options.dns.summary))
        rows.append(("phones", options.phones.summary))
        rows.append(("socks", options.socks?.summary ?? "off"))
        rows.append(("http", options.http?.summary ?? "off"))
        rows.append(("state", options.state.map { Shown.text($0) } ?? "none"))
        rows += labRows
        let log = options.log
        rows.append(("log", "\(log.level.rawValue), \(log.format.rawValue), flows \(log.flows.rawValue)"))
        return rows.map { key, value in
            key + String(repeating: " ", count: max(1, 12 - key.count)) + value + "\n"
        }.joined()
    }

    /// Devices, keys, and the ways in of those who switch.
    private var labRows: [(String, String)] {
        let options = configuration
        var rows = options.devices.map { device in
            let profile = device.profile.map { ", \($0)" } ?? ""
            return ("device", "\(device.name), \(device.identity)\(profile)")
        }
        rows.append(("new devices", options.newDevices.rawValue))
        rows.append(("lease", options.lease.map(Quantity.text) ?? "until it is released"))
        rows += options.keys.map { ("key", $0.summary) }
        let group = (options.control?.group).map { ", group \($0)" } ?? ""
        rows.append(("control", options.control.map { Shown.text($0.socket) + group } ?? "off"))
        if let push = options.push {
            let allowed = push.allow.isEmpty ? "" : " for " + push.allow.map(\.description).joined(separator: " ")
            rows.append(("push", push.listen.map(\.description).joined(separator: " ") + allowed))
        }
        rows += options.peers.map { ("peer", "\($0.id), \($0.address), key \($0.key)") }
        if let metrics = options.metrics { rows.append(("metrics", metrics.summary)) }
        if options.network.setup == .gateway { rows.append(("page", options.page?.summary ?? "off")) }
        if let adhoc = options.adhoc { rows.append(("adhoc", adhoc.summary)) }
        return rows
    }

    private func routes(of profile: Profile) -> String {
        let routes = profile.routes
        var parts = ["\(rules(of: profile.id).mode.rawValue) mode"]
        for (name, list) in [("domains", routes.domains), ("bypass", routes.bypass), ("rules", routes.rules)]
        where !list.isEmpty {
            parts.append("\(list.count) \(name)")
        }
        parts.append("sniff \(routes.sniff.rawValue)")
        if routes.connectName == .sni { parts.append("connect by SNI") }
        parts.append("udp \(routes.udp.rawValue)")
        return parts.joined(separator: ", ")
    }

    /// What is routed into the TUN device, in words.
    static func words(_ capture: Capture, with option: RouteOptions.Capture) -> String {
        switch capture {
        case .all(let reason): return "all: \(reason)"
        case .names(let prefixes):
            var parts = ["fake addresses"]
            if option == .addresses { parts.append("the addresses of the listed names") }
            let shown = prefixes.prefix(8).map(\.description).joined(separator: " ")
            if !prefixes.isEmpty { parts.append(shown + (prefixes.count > 8 ? " and \(prefixes.count - 8) more" : "")) }
            return parts.joined(separator: ", ")
        }
    }
}

extension Upstream {
    /// The proxy and how it is talked to.
    var summary: String {
        if let group { return group.summary }
        guard let server else { return "direct, half-close \(halfClose.rawValue)" }
        var parts = ["\(type.rawValue) \(server)"]
        if kind != .other { parts.append(kind.rawValue) }
        if let credentials {
            let user = "user \(Shown.text(credentials.user))"
            switch credentials.password {
            case .file(let path): parts.append("\(user), password from \(Shown.text(path))")
            case .given: parts.append("\(user), password given")
            }
            if type == .http { parts.append("auth \(authentication.rawValue)") }
        }
        if identify { parts.append("identify") }
        parts.append("half-close \(halfClose.rawValue)")
        if type == .http { parts.append("http80 \(plainHTTP.rawValue)") }
        return parts.joined(separator: ", ")
    }
}

extension KeyOptions {
    /// What it may sign, and until when.
    fileprivate var summary: String {
        var parts = [id, scope.map(\.rawValue).sorted().joined(separator: " and "), "from \(Shown.text(file))"]
        if let hosts { parts.append("\(hosts.count) hosts") }
        if let until { parts.append("until \(CalendarDate.text(until))") }
        if isRevoked { parts.append("revoked") }
        return parts.joined(separator: ", ")
    }
}

extension Egress {
    /// Where what isn't proxied leaves.
    var summary: String {
        switch self {
        case .direct: "direct"
        case .profile(let id): "through the upstream of \(id)"
        }
    }
}

extension TunnelOptions {
    fileprivate var summary: String {
        let threads = workers.map { "workers \($0)" } ?? "a worker for two processors"
        return "\(name), mtu \(mtu), \(threads), offload \(offload.rawValue)"
    }
}

extension NetworkOptions {
    fileprivate var summary: String {
        guard setup != .none else { return "none: routes are made by others" }
        var parts = [setup.rawValue]
        if !lan.isEmpty {
            let names = lan.map { $0.interface + ($0.profile.map { " (\($0))" } ?? "") }
            parts.append("lan " + names.joined(separator: " "))
        }
        parts.append("uplink \(uplink ?? "auto")")
        if setup == .gateway, !masquerades { parts.append("devices keep their addresses") }
        parts.append(whenDown == .block ? "refused while down" : "direct while down")
        return parts.joined(separator: ", ")
    }
}

extension DNSOptions {
    fileprivate var summary: String {
        guard mode != .off else { return "off" }
        var parts = [mode.rawValue]
        let places = listen.map(\.description).joined(separator: " ")
        parts.append("on " + (listen.isEmpty ? "the gateway's addresses, port \(Self.port)" : places))
        let servers = resolvers.map(\.description).joined(separator: " ")
        parts.append("resolvers \(servers)" + (resolvers.count > 1 ? " (\(order.rawValue))" : ""))
        parts.append("families \(families.rawValue)")
        parts.append("pools \(pool) \(pool6)")
        if !local.isEmpty { parts.append("local " + local.joined(separator: " ")) }
        return parts.joined(separator: ", ")
    }
}

extension PhoneOptions {
    fileprivate var summary: String {
        let byRule = "by rule"
        return [
            "connectivity \(connectivity.rawValue)", "push \(push ? "direct" : byRule)",
            "ntp \(ntp ? "direct" : byRule)", "ike \(ike ? "direct" : byRule)",
            "private relay \(privateRelay ? "allow" : "refuse")", "doh \(doh.rawValue)", "dot \(dot.rawValue)",
        ].joined(separator: ", ") + (lists.map { ", lists from \(Shown.text($0))" } ?? "")
    }
}

extension InboundOptions {
    /// Where it listens, for whom, and where its streams go.
    fileprivate var summary: String {
        var text = listen.map(\.description).joined(separator: " ")
        if !allow.isEmpty { text += " for " + allow.map(\.description).joined(separator: " ") }
        if !users.isEmpty { text += ", \(users.count) users" }
        return outbound == .direct ? text + ", direct" : text
    }
}
