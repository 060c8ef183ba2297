/// The schema of probes, groups, the listener for Prometheus and the page.

internal import Bytes

extension ConfigurationSchema {
    /// The `health` object of the file or of one profile, which has no defaults of its own.
    static func health(isOfProfile: Bool) -> SchemaObject {
        let usual = HealthOptions()
        let duration = { (time: Interval) in isOfProfile ? Schema.anyDuration : Schema.duration(time) }
        var object = SchemaObject()
        object.add(
            "url",
            .text(pattern: "^[Hh][Tt][Tt][Pp]://[^/?#@\\s]+([/?][^#\\s]*)?$", longest: 1024),
            "an http page that is asked for through the upstream")
        let status = Schema.number(nil, 200...599)
        object.add("status", .either(status, .list(status, least: 1, most: 16)), "what it answers; 200 unless given")
        object.add("body", .text(pattern: "[^*]", longest: 256), "a text that it has in it; * stands for anything")
        let via = HealthOptions.Via.allCases.map(\.rawValue)
        object.add(
            "via", isOfProfile ? Schema(["enum": .strings(via)]) : .words(usual.via),
            "how an http proxy is asked for it")
        object.add("interval", duration(usual.interval), "5s to 1h: between two rounds of probes")
        object.add("timeout", duration(usual.timeout), "1s to 60s, at most the interval: for one probe")
        object.add(
            "slow", duration(usual.slow), "10ms to 60s, at most the timeout: an answer that takes longer is slow")
        object.add(
            "giveUp", .either(Schema(["const": false]), duration(usual.giveUp ?? .zero)),
            "30s to 24h: an assignment whose upstream is red for so long ends; false: it stays")
        return object
    }

    /// Adds the keys of a group to those of an upstream.
    static func addGroup(to object: inout SchemaObject) {
        let usual = GroupOptions(members: [])
        object.add("choose", .words(usual.choose), "which member of a group carries a stream")
        object.add(
            "members",
            Schema([
                "type": "array", "minItems": 2, "maxItems": .integer(GroupOptions.memberLimit), "uniqueItems": true,
                "items": Schema.identifier.json,
            ]), "the ids of its profiles, the preferred one first")
        object.add(
            "tolerance", .duration(usual.tolerance), "1ms to 10s, with fastest: by how much another must be faster")
        object.add(
            "returnAfter", .duration(usual.returnAfter),
            "1s to 24h, with fallback: how long a better one is green first")
        object.add("whenDown", .words(usual.whenDown), "what becomes of streams while all are red")
    }

    static var metrics: SchemaObject {
        var object = SchemaObject()
        object.add("listen", .listeners, "where to listen; 127.0.0.1:10800 unless given")
        object.add("allow", .list(.network, most: 256), "who may connect")
        return object
    }

    static var page: SchemaObject {
        let usual = Int(PageOptions.usualPort)
        var object = SchemaObject()
        object.add("port", .number(usual, 1024...65535), "where it listens; port 80 is redirected to it")
        object.add("viewers", .list(.network, most: 256), "who may look at the board of all devices")
        return object
    }
}
