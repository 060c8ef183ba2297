/// Managers of the network that may undo what the gateway makes.

import Network

enum ManagerChecks {
    static func findings(_ sight: Sight) -> [Finding] {
        guard sight.setup.network != .none else { return [] }
        let managers = sight.managers
        let found =
            networkManager(managers.networkManager, sight.setup) + networkd(managers.networkd) + resolved(managers)
        return found.isEmpty ? [Finding(.managers, .ok, "no network manager is in the way")] : found
    }

    /// Lines as `starship0:connected (externally)`; a colon within a name is written `\:` (nmcli(1)).
    private static func networkManager(_ devices: String?, _ setup: Sight.Setup) -> [Finding] {
        guard let devices else { return [] }
        let line = devices.split(separator: "\n").first { $0.hasPrefix("\(setup.tunnel):") }
        guard let state = line?.dropFirst(setup.tunnel.count + 1), state != "unmanaged" else { return [] }
        return [
            Finding(
                .managers, .notice, "NetworkManager manages \(setup.tunnel) (\(state))",
                meaning: "It may take addresses and routes of the tunnel away.",
                mending: [
                    "printf '[keyfile]\\nunmanaged-devices+=interface-name:\(setup.tunnel)\\n' "
                        + ">/etc/NetworkManager/conf.d/starship.conf",
                    "nmcli general reload",
                ])
        ]
    }

    /// It removes rules and routes that it doesn't know, each time that it starts (networkd.conf(5)).
    private static func networkd(_ configuration: String?) -> [Finding] {
        guard let configuration else { return [] }
        let keys = ["ManageForeignRoutes", "ManageForeignRoutingPolicyRules"]
        let missing = keys.filter { key in
            let last = configuration.split(separator: "\n").last { line in
                line.filter { $0 != " " }.hasPrefix("\(key)=")
            }
            let value = last?.filter { $0 != " " }.dropFirst(key.count + 1).lowercased()
            return !["no", "false", "0", "off"].contains(value ?? "yes")
        }
        guard !missing.isEmpty else { return [] }
        let lines = missing.map { "\($0)=no\\n" }.joined()
        return [
            Finding(
                .managers, .notice, "systemd-networkd removes rules or routes of others when it starts",
                meaning:
                    "After an update of systemd devices leave past the proxy, until the gateway puts its rules back.",
                mending: [
                    "mkdir -p /etc/systemd/networkd.conf.d",
                    "printf '[Network]\\n\(lines)' >/etc/systemd/networkd.conf.d/starship.conf",
                    "systemctl restart systemd-networkd",
                ])
        ]
    }

    /// With the system's resolvers, there have to be some besides the stub of this machine.
    private static func resolved(_ managers: Sight.Managers) -> [Finding] {
        guard managers.asksSystem else { return [] }
        let servers = (servers(managers.resolvConf) + Self.servers(managers.uplinkServers)).filter {
            !$0.hasPrefix("127.") && $0 != "::1"
        }
        guard servers.isEmpty else { return [] }
        return [
            Finding(
                .managers, .wrong, "/etc/resolv.conf names stubs of this machine alone, and nobody the servers behind",
                meaning: "`dns.resolvers` \"system\" has nobody to ask.",
                advice: "Name resolvers: `dns: { resolvers: [\"192.0.2.53\"] }`, then starshipctl reload.")
        ]
    }

    static func servers(_ text: String?) -> [String] {
        (text ?? "").split(separator: "\n").compactMap { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.count >= 2 && words[0] == "nameserver" ? String(words[1]) : nil
        }
    }
}
