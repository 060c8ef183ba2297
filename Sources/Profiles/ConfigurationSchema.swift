/// # The configuration, as editors and other programs check it
///
/// A JSON Schema (draft 2020-12) of what `Configuration.parse` reads: every key with its type, its range and its
/// default. What one key can't tell alone (a profile that isn't there, two listeners in one place) is for the reader to
/// say. Words and defaults are those of the types themselves; the tests hold the keys against the reader's.

internal import Bytes

public enum ConfigurationSchema {
    /// The whole schema.
    public static var text: String { json.pretty }

    /// The schema of one profile, as the control API takes it: `id` may stand in the request's path.
    public static var profile: JSON {
        profileObject(needsIdentifier: false).json
    }

    static var json: JSON {
        .object(
            [
                JSON.Member("$schema", "https://json-schema.org/draft/2020-12/schema"),
                JSON.Member("title", "The configuration of starshipd"),
            ] + top.members)
    }

    private static var top: SchemaObject {
        let usual = Configuration(profiles: [
            Profile(id: "x", name: "x", upstream: Upstream(type: .direct, server: nil))
        ])
        var object = SchemaObject(required: ["profiles"])
        object.add("tun", orFalse(tunnel), "the TUN device; false: SOCKS5 and HTTP alone")
        object.add("network", network, "what the gateway does to the machine's network")
        object.add("ipv6", .flag(usual.ipv6), "whether devices get IPv6")
        object.add("dns", orFalse(dns), "the name service")
        object.add("socks", orFalse(inbound(isHTTP: false)), "SOCKS5 for clients that know it")
        object.add("http", orFalse(inbound(isHTTP: true)), "an HTTP proxy for clients that know it")
        object.add(
            "profiles", .list(Schema(profileObject(needsIdentifier: true)), least: 1, most: 1024),
            "the environments to switch between")
        object.add("active", .text(), "the id of the profile in use; the first one unless given")
        object.add("health", health(isOfProfile: false), "how upstreams are probed, unless a profile says otherwise")
        object.add("egress", .text(default: "direct"), "how the rest leaves: direct, or a profile's id")
        object.add("ruleSets", .list(Schema(ruleSet), most: 256), "lists that rules name")
        object.add("phones", phones, "what phones need without asking for it")
        object.add(
            "state", orFalse(.text(pattern: "^/", longest: 4095, default: Configuration.stateDirectory)),
            "the directory of what outlives a restart")
        object.add("limits", limits, "bounds and times")
        object.add("log", log, "what is written to standard error")
        object.add("clock", .words(usual.clock), "whose word it is that the calendar is right")
        addLab(to: &object, usual)
        return object
    }

    private static func addLab(to object: inout SchemaObject, _ usual: Configuration) {
        object.add("gateway", .identifier, "this gateway's id; the host's name unless given")
        object.add("devices", .list(Schema(device), most: 4096), "devices with a name")
        object.add("newDevices", .words(usual.newDevices), "what becomes of devices without a name and an assignment")
        object.add("lease", orFalse(.duration(.hours(12))), "how long an assignment lasts; false: until it is released")
        object.add("leases", .text(pattern: "^/.*[^/]$", longest: 4095), "the DHCP server's lease file")
        object.add("keys", .list(Schema(key), most: 256), "keys that sign links and pushes")
        object.add("control", orFalse(control), "the control socket")
        object.add("push", orFalse(push), "signed requests over TCP")
        object.add("peers", .list(Schema(peer), most: PeerOptions.limit), "other gateways of the lab")
        object.add(
            "peerWait", .duration(usual.peerWait), "0s to 24h: how long unknown devices wait for what peers know")
        object.add("metrics", orFalse(metrics), "figures for Prometheus over TCP")
        object.add("page", orFalse(page), "the page for devices; there is one with network.setup gateway alone")
        object.add("adhoc", orFalse(adhoc), "proxies that people bring along for one device")
    }

    private static func orFalse(_ schema: Schema) -> Schema { .either(Schema(["const": false]), schema) }

    static func orFalse(_ object: SchemaObject) -> Schema { orFalse(Schema(object)) }
}

/// An object of the schema: all its keys, and no others.
struct SchemaObject {
    private var properties: [JSON.Member] = []
    private var required: [String]
    /// What the keys must agree on.
    var rules: [JSON.Member] = []

    init(required: [String] = []) { self.required = required }

    mutating func add(_ key: String, _ schema: Schema, _ description: String) {
        properties.append(
            JSON.Member(key, .object([JSON.Member("description", .string(description))] + schema.members)))
    }

    mutating func add(_ key: String, _ object: SchemaObject, _ description: String) {
        add(key, Schema(object), description)
    }

    var members: [JSON.Member] {
        var members = [JSON.Member("type", "object"), JSON.Member("additionalProperties", false)]
        if !required.isEmpty { members.append(JSON.Member("required", .strings(required))) }
        return members + [JSON.Member("properties", .object(properties))] + rules
    }

    var json: JSON { .object(members) }
}

/// What one value may be.
struct Schema {
    let members: [JSON.Member]

    init(_ pairs: KeyValuePairs<String, JSON?>) {
        members = pairs.compactMap { pair in pair.value.map { JSON.Member(pair.key, $0) } }
    }

    init(_ object: SchemaObject) { members = object.members }

    var json: JSON { .object(members) }

    /// One of two.
    static func either(_ left: Schema, _ right: Schema) -> Schema {
        Schema(["anyOf": [left.json, right.json]])
    }

    static func text(pattern: String? = nil, longest: Int = 255, default: String? = nil) -> Schema {
        Schema([
            "type": "string", "minLength": 1, "maxLength": .integer(longest), "pattern": pattern.map(JSON.string),
            "default": `default`.map(JSON.string),
        ])
    }

    static func flag(_ default: Bool) -> Schema { Schema(["type": "boolean", "default": .boolean(`default`)]) }

    static func number(_ default: Int?, _ range: ClosedRange<Int>) -> Schema {
        Schema([
            "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
            "default": `default`.map(JSON.integer),
        ])
    }

    static func words<Word: RawRepresentable<String> & CaseIterable>(_ default: Word, but not: Word? = nil) -> Schema {
        let words = Word.allCases.map(\.rawValue).filter { $0 != not?.rawValue }
        return Schema(["enum": .strings(words), "default": .string(`default`.rawValue)])
    }

    static func list(_ element: Schema, least: Int? = nil, most: Int) -> Schema {
        Schema([
            "type": "array", "minItems": least.map(JSON.integer), "maxItems": .integer(most), "items": element.json,
        ])
    }

    static func duration(_ default: Interval) -> Schema {
        Schema([
            "type": "string", "pattern": .string(durationPattern), "default": .string(Quantity.text(`default`)),
        ])
    }

    /// A duration without a default of its own.
    static let anyDuration = Schema(["type": "string", "pattern": .string(durationPattern)])

    private static let durationPattern = "^[0-9]{1,15}(\\.[0-9]{1,6})?(ms|s|m|h|d)$"

    static func size(_ default: Int) -> Schema {
        Schema([
            "type": "string", "pattern": .string(sizePattern), "default": .string(Quantity.text(octets: `default`)),
        ])
    }

    static let sizePattern = "^[0-9]{1,15}(\\.[0-9]{1,6})?(B|KiB|MiB|GiB)$"
    static let identifier = text(pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$", longest: 64)
    static let interface = text(pattern: "^(?!\\.{1,2}$)[A-Za-z0-9._][A-Za-z0-9._-]*$", longest: 15)
    static let file = text(longest: 4095)
    static let address = text(pattern: "^[0-9A-Fa-f:.]+$")
    static let network = text(pattern: "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$")

    /// An address with or without a port, or several of them.
    static let listeners: Schema = {
        let place = text(pattern: "^(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Fa-f:.]+)(:[0-9]{1,5})?$")
        return either(place, list(place, most: 8))
    }()

    /// A list of rules, each one line.
    static let rules = list(text(longest: 1024), most: 100_000)
}
