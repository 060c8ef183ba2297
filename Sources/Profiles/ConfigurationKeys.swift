/// Which keys stand where, and which belong to features that this version lacks.

enum ConfigurationKeys {
    static let top = ["tun", "network", "socks", "http", "profiles", "active", "limits", "log"]
    static let laterTop = [
        "dns", "devices", "keys", "rules", "domains", "bypass", "health", "metrics", "control", "page", "push",
        "gateway",
        "ipv6", "sniff", "phones",
    ]

    static let tun = ["name", "mtu", "workers", "offload"]
    static let network = ["setup", "mark"]
    static let laterNetwork = ["lan", "uplink", "whenDown", "masquerade", "dhcp"]
    static let socks = ["listen", "allow", "users"]
    static let http = ["listen", "allow", "users", "outbound"]
    static let user = ["name", "passwordFile"]

    static let profile = ["id", "name", "upstream"]
    static let laterProfile = ["domains", "bypass", "rules", "health", "selfService", "devices", "dns"]
    static let upstream = [
        "type", "host", "port", "user", "passwordFile", "auth", "identify", "kind", "halfClose", "http80",
    ]
    static let laterUpstream = ["members", "fallback", "health"]

    static let limits = [
        "dial", "connect", "attemptDelay", "halfOpen", "halfOpenPerDevice", "flows", "synAck", "timeWait", "halfClose",
        "idle", "keepaliveClient", "keepaliveUpstream", "buffers", "flowBuffer", "icmpErrors",
        "credentialRetry",
    ]
    static let laterLimits = [
        "sniff", "sniffTime", "udp", "udpFlows", "dns", "dnsCache", "fragments", "fragmentTime", "names",
    ]
    static let log = ["level", "format", "flows"]

    /// Where a key would be at home, for one that stands in the wrong object.
    private static let homes: [(path: String, keys: [String])] = [
        ("", top), ("tun", tun), ("network", network), ("socks", socks), ("http", http), ("profiles[]", profile),
        ("profiles[].upstream", upstream), ("limits", limits), ("log", log),
    ]

    /// Names that other programs use for the same thing.
    private static let synonyms = [
        "queues": "workers", "interface": "name", "server": "host", "address": "host", "hostname": "host",
        "username": "user", "login": "user", "proxies": "profiles", "upstreams": "profiles", "proxy": "upstream",
        "loglevel": "level", "threads": "workers", "timeout": "connect", "bind": "listen",
    ]

    /// What to do about an unknown key: its near miss, its home, or where a secret belongs.
    static func advice(on key: String, in path: String, among keys: [String]) -> String? {
        if ["password", "pass", "secret", "credentials", "token"].contains(key.lowercased()) {
            return "secrets are read from a file: `passwordFile`"
        }
        if let synonym = synonyms[key.lowercased()], keys.contains(synonym) { return "did you mean `\(synonym)`?" }
        if let near = NearMiss.suggestion(for: key, among: keys) { return "did you mean `\(near)`?" }
        guard let home = homes.first(where: { $0.keys.contains(key) && $0.path != path }) else { return nil }
        return home.path.isEmpty ? "`\(key)` stands at the top" : "`\(key)` belongs in `\(home.path)`"
    }
}
