/// What the parts of a configuration must agree on, each a rule of its own.
///
/// Every error names the key that it is about; where that stands in the text is found from its path.

internal import Addresses
internal import Bytes

extension Configuration {
    /// Checks everything that no key can tell alone.
    func check() throws(ConfigurationError) {
        try checkWaysIn()
        try checkListeners()
        try checkReferences()
        try checkGroups()
        try checkHealth()
        try checkNetwork()
        try checkLoops()
        try checkPools()
        try checkNames()
        try checkDevices()
        try checkPush()
        try checkPeers()
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

    static func conflict(
        _ path: String, found: String, expected: String, hint: String? = nil
    ) -> ConfigurationError {
        ConfigurationError(.conflict, at: nil, path: path, found: found, expected: expected, hint: hint)
    }

    // MARK: Ways in

    private func checkWaysIn() throws(ConfigurationError) {
        guard tunnel != nil || socks != nil || http != nil else {
            throw Self.conflict(
                "tun", found: "neither tun nor socks nor http", expected: "at least one way in")
        }
        guard tunnel == nil else { return }
        if network.setup != .none {
            throw Self.conflict(
                "network.setup", found: "\"\(network.setup.rawValue)\" with tun: false", expected: "\"none\", or a tun")
        }
        if dns.mode != .off {
            throw Self.conflict(
                "dns.mode", found: "\"\(dns.mode.rawValue)\" with tun: false", expected: "\"off\", or a tun",
                hint: "answers lead devices into the TUN device")
        }
    }

    private func checkListeners() throws(ConfigurationError) {
        let taken = [
            ("socks", "socks", socks?.listen ?? []), ("http", "http", http?.listen ?? []),
            ("dns.listen", "dns", dns.mode == .off ? [] : dns.listen), ("push", "push", push?.listen ?? []),
            ("metrics", "metrics", metrics?.listen ?? []), ("page", "page", page?.listen ?? []),
        ]
        for (index, (path, _, listen)) in taken.enumerated() {
            for (_, other, before) in taken[..<index] {
                guard let shared = listen.first(where: { address in before.contains { $0.collides(with: address) } })
                else { continue }
                throw Self.conflict(
                    path, found: "\(shared), where \(other) listens", expected: "an address of its own")
            }
        }
        // The name service is on every address of this machine, unless it is told where to be.
        if page?.port == DNSOptions.port, dns.mode != .off {
            throw Self.conflict(
                "page.port", found: "\(DNSOptions.port), where dns listens", expected: "a port of its own")
        }
    }

    // MARK: References

    private func checkReferences() throws(ConfigurationError) {
        try checkProfile(active, "active")
        if case .profile(let id) = egress {
            try checkProfile(id, "egress", besides: ["direct"])
            if profile(id)?.upstream.type == .direct {
                throw Self.conflict(
                    "egress", found: "\"\(id)\", whose upstream is direct", expected: "\"direct\", or another profile")
            }
        }
        for (index, lan) in network.lan.enumerated() {
            if let id = lan.profile { try checkProfile(id, "network.lan[\(index)].profile") }
        }
    }

    func checkProfile(
        _ id: String, _ path: String, besides words: [String] = []
    ) throws(ConfigurationError) {
        let known = words + profiles.map(\.id)
        guard !known.contains(id) else { return }
        let near = NearMiss.suggestion(for: id, among: known)
        let shown = known.prefix(20).map { "\"\($0)\"" }.joined(separator: ", ")
        throw Self.conflict(
            path, found: Shown.text(id), expected: "one of \(shown)\(known.count > 20 ? ", …" : "")",
            hint: near.map { "did you mean \"\($0)\"?" })
    }

    // MARK: Network

    private func checkNetwork() throws(ConfigurationError) {
        let setup = network.setup
        if setup == .gateway, network.lan.isEmpty {
            throw Self.conflict(
                "network.lan", found: "no interface with setup \"gateway\"",
                expected: "the interfaces that devices are on, such as [\"wlan0\"]")
        }
        if setup != .gateway, !network.lan.isEmpty {
            throw Self.conflict(
                "network.lan", found: "interfaces with setup \"\(setup.rawValue)\"", expected: "setup \"gateway\"",
                hint: setup == .host ? "`host` is for the machine's own traffic" : nil)
        }
        if setup == .none, let uplink = network.uplink {
            throw Self.conflict(
                "network.uplink", found: "\"\(uplink)\" with setup \"none\"", expected: "setup \"gateway\" or \"host\"")
        }
        if setup != .gateway, !network.masquerades {
            throw Self.conflict(
                "network.masquerade", found: "false with setup \"\(setup.rawValue)\"", expected: "setup \"gateway\"",
                hint: "nothing else is masqueraded")
        }
        if setup == .none, network.whenDown == .direct {
            throw Self.conflict(
                "network.whenDown", found: "\"direct\" with setup \"none\"",
                expected: "setup \"gateway\" or \"host\"", hint: "the routes are your own, and stay as you made them")
        }
        let interfaces =
            network.lan.enumerated().map { ("network.lan[\($0)]", $1.interface) }
            + (network.uplink.map { [("network.uplink", $0)] } ?? [])
        for (path, interface) in interfaces where interface == "lo" || interface == tunnel?.name {
            throw Self.conflict(
                path, found: "\"\(interface)\", " + (interface == "lo" ? "loopback" : "the TUN device"),
                expected: "the interface of a network")
        }
    }

    // MARK: Loops

    /// No upstream and no resolver is the gateway itself.
    private func checkLoops() throws(ConfigurationError) {
        for (index, profile) in profiles.enumerated() {
            guard let server = profile.upstream.server, case .address(let address) = server.host else { continue }
            for (key, inbound) in [("socks", socks), ("http", http)] {
                guard let inbound, inbound.outbound == .active else { continue }
                guard inbound.listen.contains(where: { $0.answers(address, server.port) }) else { continue }
                throw Self.conflict(
                    "profiles[\(index)].upstream", found: "the upstream \(server), where \(key) listens",
                    expected: "an upstream that is not this gateway itself",
                    hint: key == "http" ? "with http.outbound: \"direct\" it can be one" : nil)
            }
        }
        guard dns.mode != .off else { return }
        for case .server(let server) in dns.resolvers {
            let isOwn =
                dns.listen.contains { $0.answers(server.address, server.port) }
                || dns.listen.isEmpty && server.address.isLoopback && server.port == DNSOptions.port
            guard !isOwn else {
                throw Self.conflict(
                    "dns.resolvers", found: "\(server), where this gateway itself answers",
                    expected: "another name server")
            }
        }
    }

    // MARK: Pools

    /// B104: a fake address means a name and nothing else.
    private func checkPools() throws(ConfigurationError) {
        for (path, pool) in [("dns.pool", dns.pool), ("dns.pool6", dns.pool6)] {
            for profile in profiles {
                guard let server = profile.upstream.server, case .address(let address) = server.host else { continue }
                guard !pool.contains(address) else {
                    throw Self.conflict(
                        path, found: "\(pool), with the upstream \(server) of \"\(profile.id)\" in it",
                        expected: "a network of its own for fake addresses")
                }
            }
            for case .server(let server) in dns.resolvers where pool.contains(server.address) {
                throw Self.conflict(
                    path, found: "\(pool), with the resolver \(server) in it",
                    expected: "a network of its own for fake addresses")
            }
            for listener in listeners where pool.contains(listener.address) && !pool.reserves(listener.address) {
                throw Self.conflict(
                    path, found: "\(pool), with the listener \(listener) in it",
                    expected: "a network of its own for fake addresses",
                    hint: "the first \(DNSOptions.reservedAddresses) of them are the gateway's own")
            }
        }
    }

    /// Every address that is listened on.
    private var listeners: [SocketAddress] {
        let ofClients = (socks?.listen ?? []) + (http?.listen ?? []) + dns.listen
        return ofClients + (push?.listen ?? []) + (metrics?.listen ?? [])
    }

    // MARK: Names

    /// Rules by name need somebody who learns names.
    private func checkNames() throws(ConfigurationError) {
        guard tunnel != nil, dns.mode == .off else { return }
        for (index, profile) in profiles.enumerated() where profile.routes.sniff == .off {
            guard let first = profile.routes.domains.first else { continue }
            throw Self.conflict(
                "profiles[\(index)].sniff", found: "\"off\" without a name service",
                expected: "\"needed\", or a dns.mode other than \"off\"",
                hint: "nothing could tell that a flow is for \(Shown.text(first.text))")
        }
    }
}

extension SocketAddress {
    /// Whether two listeners would want the same place.
    fileprivate func collides(with other: SocketAddress) -> Bool {
        guard port == other.port, address.isIPv4 == other.address.isIPv4 else { return false }
        return address == other.address || address.isUnspecified || other.address.isUnspecified
    }

    /// Whether a listener here is what a connection from this machine to the address reaches.
    fileprivate func answers(_ address: IPAddress, _ port: UInt16) -> Bool {
        self.port == port && (self.address == address || self.address.isUnspecified && address.isLoopback)
    }
}
