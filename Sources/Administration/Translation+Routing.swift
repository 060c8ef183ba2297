/// From the configuration's profiles to what decides, and to what the DNS service and the kernel are told.

import Addresses
import Bytes
import Control
import Gateway
import LinuxIO
import Names
import Network
import Profiles
import Routing
import Upstreams
import Wire

extension Translation {
    /// What decides where streams go.
    static func routing(
        _ resolved: ResolvedConfiguration, path: String
    ) throws(StartupError) -> RoutingSettings {
        let configuration = resolved.configuration
        var profiles: [RoutingSettings.Profile] = []
        for profile in configuration.profiles {
            profiles.append(try routing(profile, resolved))
        }
        var direct = try upstreamSettings(Profiles.Upstream(type: .direct, server: nil), configuration)
        direct.policy.refused = pools(configuration)
        var routing = RoutingSettings(
            profiles: profiles, active: position(of: configuration.active, configuration) ?? 0, direct: direct)
        if case .profile(let id) = configuration.egress { routing.egress = position(of: id, configuration) }
        routing.ipv6 = configuration.ipv6
        routing.fakesNames = configuration.dns.mode == .fake
        routing.maximumTTL = UInt32(clamping: configuration.dns.maximumTTL.milliseconds / 1000)
        routing.neverFaked = DNSOptions.alwaysLocal + configuration.dns.local
        routing.upstreamMachines = upstreamAddresses(configuration)
        routing.upstreamNames = upstreamNames(configuration)
        routing.phones = try PhoneLists(configuration.phones, besides: path).settings
        routing.sniffPorts = configuration.limits.sniffPorts
        routing.dnsService = configuration.dns.mode == .off ? nil : ownQuestions
        return routing
    }

    private static func routing(
        _ profile: Profile, _ resolved: ResolvedConfiguration
    ) throws(StartupError) -> RoutingSettings.Profile {
        var upstream = try upstreamSettings(profile.upstream, resolved.configuration)
        upstream.policy.refused = pools(resolved.configuration)
        var settings = RoutingSettings.Profile(
            id: profile.id, upstream: upstream, rules: resolved.rules(of: profile.id))
        settings.group = profile.upstream.group.map { group(of: $0, resolved.configuration) }
        settings.connectName = profile.routes.connectName == .sni ? .sni : .evidence
        settings.sniff =
            switch profile.routes.sniff {
            case .needed: .needed
            case .always: .always
            case .off: .off
            }
        if profile.routes.capture == .addresses { settings.capturedNames = names(in: profile.routes.domains) }
        settings.letsDatagramsOut = profile.routes.udp == .direct
        return settings
    }

    private static func group(of options: GroupOptions, _ configuration: Configuration) -> RoutingSettings.Group {
        let members = options.members.compactMap { id in position(of: id, configuration).map { (position: $0, id: id) }
        }
        var group = RoutingSettings.Group(members: members.map(\.position), ids: members.map(\.id))
        group.isBalanced = options.choose == .balance
        group.goesDirect = options.whenDown == .direct
        return group
    }

    /// The names of a list that are one name each; what matches by pattern has no address.
    private static func names(in domains: [RuleText]) -> [String] {
        domains.compactMap { entry in
            let text = entry.text.hasPrefix("full:") ? String(entry.text.dropFirst(5)) : entry.text
            guard case .name? = Wire.Host.parse(text) else { return nil }
            return try? DomainName.normalise(text)
        }
    }

    private static func position(of id: String, _ configuration: Configuration) -> Int? {
        configuration.profiles.firstIndex { $0.id == id }
    }

    /// The addresses that nobody really has.
    static func pools(_ configuration: Configuration) -> [IPPrefix] {
        configuration.dns.mode == .off ? [] : [configuration.dns.pool, configuration.dns.pool6]
    }

    private static func upstreamNames(_ configuration: Configuration) -> [String] {
        configuration.profiles.compactMap { profile in
            guard case .name(let name)? = profile.upstream.server?.host else { return nil }
            return try? DomainName.normalise(name)
        }
    }

    private static func upstreamAddresses(_ configuration: Configuration) -> [IPAddress] {
        configuration.profiles.compactMap { profile in
            guard case .address(let address)? = profile.upstream.server?.host, !address.isLoopback else { return nil }
            return address
        }
    }

    /// Where workers bring the questions that come through the TUN device.
    static let ownQuestions = SocketAddress(IPAddress(v4: 0x7f00_0001), DNSOptions.port)

    /// The DNS service and its fake addresses; nil with `dns: false`.
    static func names(_ configuration: Configuration, isJournal: Bool, level: LogLevel) -> NameSettings? {
        let dns = configuration.dns
        guard dns.mode != .off else { return nil }
        var settings = NameSettings(pool: dns.pool, pool6: dns.pool6)
        settings.namesPerDevice = configuration.limits.fakePerDevice
        settings.directory = configuration.state
        settings.server.listen = listeners(configuration)
        settings.server.allow = networks(of: settings.server.listen)
        settings.server.answers.mode = dns.mode == .snoop ? .snoop : .fakeIP
        settings.server.answers.families = dns.families == .both && configuration.ipv6 ? .both : .ipv4
        settings.server.answers.localNames = dns.local
        settings.server.answers.ownHosts = Set(upstreamNames(configuration))
        settings.server.answers.gateway = [dns.pool, dns.pool6].prefix(configuration.ipv6 ? 2 : 1).map {
            IPAddress(high: $0.base.high, low: $0.base.low + 1)
        }
        settings.server.resolvers = dns.resolvers.map { resolver in
            switch resolver {
            case .system: .system
            case .server(let address): .address(address)
            }
        }
        settings.server.order = dns.order == .race ? .race : .ordered
        settings.server.timeout = dns.timeout
        settings.server.cacheSize = dns.cache
        if configuration.tunnel != nil, Socket.mayMark() { settings.server.mark = configuration.network.mark.value }
        settings.server.logLevel = level
        settings.server.isJournal = isJournal
        return settings
    }

    /// Where DNS is answered: on this machine always, because workers ask there for who comes through the tunnel.
    private static func listeners(_ configuration: Configuration) -> [SocketAddress] {
        let dns = configuration.dns
        let anywhere = [
            SocketAddress(IPAddress(v4: 0), DNSOptions.port),
            SocketAddress(IPAddress(high: 0, low: 0), DNSOptions.port),
        ]
        var listen = dns.listen
        // The firewall redirects port 53 to whichever address the query came in by.
        if listen.isEmpty { listen = configuration.network.setup == .none ? [] : anywhere }
        if !listen.contains(ownQuestions), !listen.contains(anywhere[0]) { listen.append(ownQuestions) }
        return listen
    }

    /// The networks of the addresses that are listened on: who can reach them without a router may ask.
    private static func networks(of listen: [SocketAddress]) -> [IPPrefix] {
        let own = (try? NetworkInterface.addresses()) ?? []
        return own.filter { own in !own.address.isLoopback && listen.contains { $0.address == own.address } }
            .compactMap { IPPrefix($0.address, length: $0.prefixLength) }
    }

    /// Who may use the HTTP proxy from anywhere, where the address alone says so, and where that proxy is; nil: nobody.
    ///
    /// Who has to log in there can't do so on the page, and one with a fixed way out has no profile of a device.
    static func pageGuests(_ configuration: Configuration) -> PageGuests? {
        guard let http = configuration.http, http.outbound == .active, http.users.isEmpty else { return nil }
        let listeners = http.listen.map(\.address).filter { !$0.isLoopback }
        return listeners.isEmpty || http.allow.isEmpty ? nil : PageGuests(networks: http.allow, listeners: listeners)
    }

    /// What is done to the machine's network; nil with `network.setup: none`.
    static func network(_ configuration: Configuration) -> NetworkSettings? {
        let options = configuration.network
        var settings: NetworkSettings
        switch options.setup {
        case .none: return nil
        case .gateway: settings = NetworkSettings(setup: .gateway)
        case .host: settings = NetworkSettings(setup: .host)
        }
        settings.lan = options.lan.map { lan in
            NetworkSettings.LAN(interface: lan.interface, profile: lan.profile)
        }
        settings.uplinks = options.uplink.map { [$0] } ?? []
        settings.mark = NetworkPlan.Mark(value: options.mark.value, mask: options.mark.mask)
        settings.masquerades = options.masquerades
        settings.whenDown = options.whenDown == .direct ? .direct : .block
        settings.mtu = configuration.tunnel?.mtu ?? 1500
        settings.pagePort = configuration.page?.port
        settings.pageGuests = pageGuests(configuration).map { .init(networks: $0.networks, listeners: $0.listeners) }
        return settings
    }
}
