/// Which keys stand where, and which belong to features that this version lacks.

internal import Bytes

enum ConfigurationKeys {
    static let top = [
        "tun", "network", "ipv6", "dns", "socks", "http", "profiles", "active", "health", "egress", "ruleSets",
        "phones",
        "state", "limits", "log", "clock", "gateway", "devices", "newDevices", "lease", "leases", "keys", "control",
        "push", "peers", "peerWait", "metrics", "page", "adhoc",
    ]

    static let tun = ["name", "mtu", "workers", "offload"]
    static let network = ["setup", "lan", "uplink", "mark", "masquerade", "whenDown"]
    static let laterNetwork = ["dhcp"]
    static let lan = ["interface", "profile"]
    static let dns = [
        "mode", "listen", "resolvers", "order", "timeout", "cache", "maxTTL", "families", "pool", "pool6", "local",
    ]
    static let socks = ["listen", "allow", "users"]
    static let http = ["listen", "allow", "users", "outbound"]
    static let user = ["name", "passwordFile"]

    static let profile = [
        "id", "name", "selfService", "upstream", "domains", "bypass", "rules", "capture", "connectName", "sniff", "udp",
        "health",
    ]
    static let laterProfile = ["devices"]
    static let upstream = [
        "type", "host", "port", "user", "passwordFile", "auth", "identify", "kind", "halfClose", "http80", "choose",
        "members", "tolerance", "returnAfter", "whenDown",
    ]
    static let health = ["url", "status", "body", "via", "interval", "timeout", "slow", "giveUp"]

    static let limits = [
        "dial", "connect", "attemptDelay", "halfOpen", "halfOpenPerDevice", "flows", "flowsPerDevice", "synAck",
        "timeWait", "halfClose", "idle", "keepaliveClient", "keepaliveUpstream", "buffers", "flowBuffer", "icmpErrors",
        "udpFlows", "udpFlowsInAll", "udpIdle", "dnsIdle", "sniffBytes", "sniffTime", "sniffPorts", "fakePerDevice",
        "fragments", "fragmentTime", "credentialRetry",
    ]
    static let ruleSet = ["name", "file", "format"]
    static let phones = ["connectivity", "push", "ntp", "ike", "privateRelay", "doh", "dot", "lists"]
    static let log = ["level", "format", "flows"]
    static let device = ["name", "mac", "interface", "address", "profile"]
    static let key = ["id", "file", "hosts", "scope", "until", "revoked"]
    static let control = ["socket", "group"]
    static let push = ["listen", "allow"]
    static let peer = ["id", "address", "key"]
    static let metrics = ["listen", "allow"]
    static let page = ["port", "viewers"]
    static let adhoc = ["from", "ports", "lease", "max"]

    // The store and the control API
    static let labState = ["active", "profiles", "devices", "assignments", "own", "spent", "unconfirmed", "stamps"]
    static let overlay = ["profiles", "active", "devices"]
    static let namedDevice = ["name", "mac", "interface", "address"]
    static let assignment = ["device", "profile", "since", "until", "by", "direct", "proxied"]
    static let ownProxy = ["profile", "device", "laptop", "since"]
    static let spent = ["key", "once", "expires"]
    static let unconfirmed = ["revision", "former", "until"]
    static let stamp = ["item", "at", "by", "base"]
    static let update = ["life", "reader", "complete", "lab"]

    /// Where a key would be at home, for one that stands in the wrong object.
    private static let homes: [(path: String, keys: [String])] = [
        ("profiles[]", profile), ("", top), ("tun", tun), ("network", network), ("dns", dns), ("socks", socks),
        ("http", http), ("profiles[].upstream", upstream), ("health", health), ("limits", limits),
        ("ruleSets[]", ruleSet), ("phones", phones), ("network.lan[]", lan), ("log", log), ("devices[]", device),
        ("keys[]", key), ("control", control), ("push", push), ("peers[]", peer), ("metrics", metrics),
        ("page", page), ("adhoc", adhoc),
    ]

    /// Names that other programs use for the same thing.
    private static let synonyms: KeyValuePairs = [
        "queues": "workers", "interface": "name", "server": "host", "address": "host", "hostname": "host",
        "username": "user", "login": "user", "proxies": "profiles", "upstreams": "profiles", "proxy": "upstream",
        "loglevel": "level", "threads": "workers", "timeout": "connect", "bind": "listen",
        "nameservers": "resolvers", "servers": "resolvers", "nameserver": "resolvers", "fakeip": "pool",
        "fake-ip-range": "pool", "fakeiprange": "pool", "range": "pool", "enhanced-mode": "mode", "interfaces": "lan",
        "fake-ip-filter": "local", "rule-providers": "ruleSets", "ruleset": "ruleSets", "rule-sets": "ruleSets",
        "path": "file", "wan": "uplink", "gateway": "uplink", "proxydomains": "domains", "matchdomains": "domains",
        "directory": "lists", "hwaddr": "mac", "macaddress": "mac", "ip": "address", "clients": "devices",
        "expires": "until", "exp": "until", "scopes": "scope", "kid": "id", "dhcp": "leases", "statedir": "state",
        "ttl": "maxTTL", "fwmark": "mark", "skipproxy": "bypass", "proxies": "members", "upstreams": "members",
        "use": "members", "fallback": "members", "strategy": "choose", "policy": "choose", "group": "choose",
        "probe": "health", "check": "health", "healthcheck": "health", "health-check": "health",
        "prometheus": "metrics", "testurl": "url", "test-url": "url", "page": "url", "statuses": "status",
        "expected-status": "status", "code": "status", "contains": "body", "pattern": "body", "match": "body",
        "period": "interval", "every": "interval", "threshold": "slow",
        "networks": "from", "allow": "from", "port": "ports", "longest": "max",
    ]

    /// What to do about an unknown key: its near miss, its home, or where a secret belongs.
    static func advice(on key: String, in path: String, among keys: [String]) -> String? {
        if ["password", "pass", "secret", "credentials", "token"].contains(key.lowercased()) {
            return "secrets are read from a file: `passwordFile`"
        }
        if let meant = synonyms.first(where: { $0.key == key.lowercased() && keys.contains($0.value) })?.value {
            return "did you mean `\(meant)`?"
        }
        if let near = NearMiss.suggestion(for: key, among: keys) { return "did you mean `\(near)`?" }
        guard let home = homes.first(where: { $0.keys.contains(key) && $0.path != path }) else { return nil }
        return home.path.isEmpty ? "`\(key)` stands at the top" : "`\(key)` belongs in `\(home.path)`"
    }
}
