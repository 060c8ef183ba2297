/// The schema of profiles, of what they name, and of devices and keys.

extension ConfigurationSchema {
    static func profileObject(needsIdentifier: Bool) -> SchemaObject {
        let usual = RouteOptions()
        var object = SchemaObject(required: needsIdentifier ? ["id", "upstream"] : ["upstream"])
        object.add("id", .identifier, "the name by which others refer to it")
        object.add("name", .text(), "what people see; the id unless given")
        object.add("selfService", .flag(false), "whether any device may pick it for itself")
        object.add("upstream", upstream, "where streams go")
        object.add("domains", .rules, "what is proxied; empty: everything")
        object.add("bypass", .rules, "what is not")
        object.add("rules", .rules, "rules in the notation of Surge and Clash, asked before both")
        object.add("capture", .words(usual.capture), "what is routed into the TUN device")
        object.add("connectName", .words(usual.connectName), "which name a CONNECT bears")
        object.add("sniff", .words(usual.sniff), "whether SNI or Host is read for a name")
        object.add("udp", .words(usual.udp), "what becomes of datagrams")
        object.add("health", orFalse(health(isOfProfile: true)), "how its upstream is probed; false: not at all")
        return object
    }

    private static var upstream: SchemaObject {
        let usual = Upstream(type: .http, server: nil)
        var object = SchemaObject(required: ["type"])
        let types = Upstream.UpstreamType.allCases.map(\.rawValue)
        object.add("type", Schema(["enum": .strings(types)]), "how it is reached")
        object.add("host", .text(pattern: "^[^/@%\\s]+$"), "a name or an address, alone")
        object.add("port", .number(nil, 1...65535), "its port")
        object.add("user", .text(), "who logs in")
        object.add("passwordFile", .file, "the file with the password")
        object.add("auth", .words(usual.authentication), "when credentials are sent")
        object.add("identify", .flag(usual.identify), "whether the proxy is told the device")
        object.add("kind", .words(usual.kind), "which program it is")
        object.add("halfClose", .words(usual.halfClose), "what becomes of the device's FIN")
        object.add("http80", .words(usual.plainHTTP), "how plain http travels")
        addGroup(to: &object)
        object.rules = upstreamRules
        return object
    }

    /// What belongs to which type.
    private static var upstreamRules: [JSON.Member] {
        let ofProxies = ["host", "port", "user", "passwordFile"]
        let ofHTTP = ["auth", "identify", "http80"]
        let ofGroups = ["choose", "members", "tolerance", "returnAfter", "whenDown"]
        let group = none(of: ofProxies + ofHTTP + ["kind", "halfClose"]) + [JSON.Member("required", ["members"])]
        let cases: [JSON] = [
            .members(["if": type(["http", "socks5"]), "then": .members(["required": ["host", "port"]])]),
            .members(["if": type(["socks5"]), "then": .object(none(of: ofHTTP))]),
            .members(["if": type(["direct"]), "then": .object(none(of: ofProxies + ofHTTP))]),
            .members(["if": type(["group"]), "then": .object(group), "else": .object(none(of: ofGroups))]),
            .members([
                "if": word("choose", ["fastest"]), "then": .object(none(of: ["returnAfter"])),
                "else": .object(none(of: ["tolerance"])),
            ]),
            .members(["if": word("choose", ["balance"]), "then": .object(none(of: ["returnAfter"]))]),
        ]
        return [
            JSON.Member("dependentRequired", .members(["user": ["passwordFile"], "passwordFile": ["user"]])),
            JSON.Member("allOf", .array(cases)),
        ]
    }

    private static func none(of keys: [String]) -> [JSON.Member] {
        [JSON.Member("properties", .object(keys.map { JSON.Member($0, false) }))]
    }

    private static func type(_ words: [String]) -> JSON { word("type", words) }

    /// That a key is there and has one of these values.
    private static func word(_ key: String, _ words: [String]) -> JSON {
        .members([
            "properties": .object([JSON.Member(key, .members(["enum": .strings(words)]))]),
            "required": .strings([key]),
        ])
    }

    static var ruleSet: SchemaObject {
        var object = SchemaObject(required: ["name", "file"])
        object.add("name", .identifier, "the name that rules use")
        object.add("file", .text(pattern: "^(?![A-Za-z0-9+.-]*://).*[^/]$", longest: 4095), "a list on this machine")
        object.add("format", .words(RuleSetFile.Format.auto), "its notation")
        return object
    }

    static var device: SchemaObject {
        let pair = "[0-9A-Fa-f]{2}"
        var object = SchemaObject(required: ["name"])
        object.add("name", .identifier, "a name that is no MAC and no address")
        object.add(
            "mac", .text(pattern: "^[0-9A-Fa-f][02468ACEace]([:-])\(pair)(\\1\(pair)){4}$"),
            "the MAC of one device")
        object.add("interface", .interface, "where the MAC is; everywhere unless given")
        object.add("address", .address, "its address, where no MAC is seen")
        object.add("profile", .text(), "the id of a profile that it has unless switched")
        object.rules = [
            JSON.Member("oneOf", .array([.members(["required": ["mac"]]), .members(["required": ["address"]])])),
            JSON.Member("dependentRequired", .members(["interface": ["mac"]])),
        ]
        return object
    }

    static var key: SchemaObject {
        var object = SchemaObject(required: ["id", "file"])
        object.add("id", .identifier, "its name in links and pushes")
        object.add("file", .text(pattern: "^(?![A-Za-z0-9+.-]*://).*[^/]$", longest: 4095), "the file that holds it")
        object.add("hosts", .list(.text(longest: 1024), most: 1024), "the proxies that its links may name")
        let scope = LinkKey.Scope.allCases.map(\.rawValue)
        object.add(
            "scope",
            Schema([
                "type": "array", "minItems": 1, "uniqueItems": true, "items": .members(["enum": .strings(scope)]),
                "default": ["links"],
            ]), "what it may sign")
        object.add("until", .text(pattern: "^[2-9][0-9]{3}-[01][0-9]-[0-3][0-9]$"), "its last day, in UTC")
        object.add("revoked", .flag(false), "whether all that it signed is void")
        return object
    }

    static var control: SchemaObject {
        var object = SchemaObject()
        let usual = ControlOptions()
        object.add("socket", .text(pattern: "^/.*[^/]$", longest: 107, default: usual.socket), "the Unix socket")
        object.add("group", .text(pattern: "^[A-Za-z0-9_][A-Za-z0-9._-]*$", longest: 32), "who may use it")
        return object
    }

    static var push: SchemaObject {
        var object = SchemaObject(required: ["listen"])
        object.add("listen", .listeners, "where to listen")
        object.add("allow", .list(.network, most: 256), "who may connect")
        return object
    }
}
