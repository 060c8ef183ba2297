/// Asking other machines, and the gateway itself as a device would: proxies, resolvers, the name service.

import Addresses
import Bytes
import Doctor
import LinuxIO
import Network
import Profiles

extension Sight {
    /// How long a proxy or a resolver may take.
    private static let patience = Interval.seconds(3)

    /// `resolvers` are those that the daemon asks; without it, those of the configuration or of the system.
    mutating func ask(_ configuration: Configuration, resolvers named: [String]) {
        let mark = configuration.tunnel != nil && Socket.mayMark() ? configuration.network.mark.value : nil
        let resolvers = named.isEmpty ? resolvers(of: configuration) : named.compactMap(Fetch.resolver)
        if setup.hasNames {
            names.resolvers = resolvers.map { resolver in
                (Self.shown(resolver), NameProbe(mark: mark).answers(resolver, ".", type: 2, within: Self.patience))
            }
            if isRunning { askOwn(configuration) }
        }
        var seen: [String] = []
        for proxy in setup.proxies where !seen.contains(proxy.server) || proxy.isUsed {
            guard let profile = configuration.profile(proxy.profile) else { continue }
            seen.append(proxy.server)
            upstreams.append(
                UpstreamSight(proxy, ProxyProbe(mark: mark, resolvers: resolvers).answer(profile, configuration)))
        }
    }

    private static func shown(_ resolver: SocketAddress) -> String {
        resolver.port == 53 ? "\(resolver.address)" : "\(resolver)"
    }

    private func resolvers(of configuration: Configuration) -> [SocketAddress] {
        configuration.dns.resolvers.flatMap { resolver -> [SocketAddress] in
            switch resolver {
            case .server(let address): [address]
            case .system: (managers.servers).map { SocketAddress($0, 53) }
            }
        }
    }

    /// The gateway's addresses on its LANs, at the port that devices' questions are led to.
    private mutating func askOwn(_ configuration: Configuration) {
        guard let machine, let plan, let port = plan.dnsPort else { return }
        let lan = plan.lan.map(\.interface)
        let addresses = machine.addresses.filter { lan.contains($0.interface) && $0.address.isIPv4 }.map(\.address)
        names.own = addresses.map { address in
            let service = SocketAddress(address, port)
            // The gateway's own name is answered by itself, whatever its resolvers do.
            let answers = NameProbe(mark: nil).answers(
                service, "starship.internal", type: 1, within: Self.patience)
            return ("\(address)", answers)
        }
    }
}

extension Sight.Managers {
    /// The system's resolvers without stubs of this machine.
    fileprivate var servers: [IPAddress] {
        let lines = ((resolvConf ?? "") + "\n" + (uplinkServers ?? "")).split(separator: "\n")
        var found: [IPAddress] = []
        for line in lines {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count > 1, words[0] == "nameserver", let address = IPAddress(parsing: words[1]),
                !address.isLoopback, !found.contains(address)
            else { continue }
            found.append(address)
        }
        return found
    }
}
