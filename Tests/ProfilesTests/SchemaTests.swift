/// The JSON Schema says what the reader says: the same keys, and the same refusals where a shape alone is wrong.

import Foundation
import Profiles
import TestSupport
import Testing

/// The validator of Python's jsonschema: an independent reader of the schema.
enum SchemaValidator {
    static let isThere = {
        guard let scratch = try? Scratch() else { return false }
        return (try? Command.run(["python3", "-c", "import jsonschema"], in: scratch.directory).status) == 0
    }()

    /// What it complains of in each document; an empty text where it passes.
    static func complaints(schema: String, _ documents: [String]) throws -> [String] {
        let root = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let input = "{\"schema\":\(schema),\"documents\":[\(documents.joined(separator: ","))]}"
        let scratch = try Scratch()
        let result = try Command.run(
            ["python3", "/\(root)/Programs/schema.py"], in: scratch.directory, input: Array(input.utf8))
        try #require(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode([String].self, from: Data(result.output))
    }
}

/// A text in JSON5 as plain JSON.
func plainJSON(_ text: String) throws -> String {
    func json(_ value: JSON5Value) -> JSON {
        switch value.content {
        case .null: .null
        case .boolean(let flag): .boolean(flag)
        case .number(let number): number.integer.map(JSON.integer) ?? .string("not a whole number")
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(json))
        case .object(let members): .object(members.map { JSON.Member($0.key, json($0.value)) })
        }
    }
    let bytes = Array(text.utf8)
    return json(try JSON5Reader.read(bytes.span)).text
}

struct SchemaTests {
    @Test(
        "each object of the schema has the keys that the reader knows, and no others",
        arguments: [
            ([], minimal("zzzzzz: 1")), (["tun"], minimal("tun: { zzzzzz: 1 }")),
            (["network"], minimal("network: { zzzzzz: 1 }")),
            (["network", "lan"], minimal("network: { lan: [{ zzzzzz: 1 }] }")),
            (["dns"], minimal("dns: { zzzzzz: 1 }")), (["socks"], minimal("socks: { zzzzzz: 1 }")),
            (["socks", "users"], minimal("socks: { users: [{ zzzzzz: 1 }] }")),
            (["http"], minimal("http: { zzzzzz: 1 }")), (["profiles"], "{ profiles: [{ zzzzzz: 1 }] }"),
            (["profiles", "upstream"], minimal(upstream: "zzzzzz: 1")),
            (["ruleSets"], minimal("ruleSets: [{ zzzzzz: 1 }]")), (["phones"], minimal("phones: { zzzzzz: 1 }")),
            (["limits"], minimal("limits: { zzzzzz: 1 }")), (["log"], minimal("log: { zzzzzz: 1 }")),
            (["devices"], minimal("devices: [{ zzzzzz: 1 }]")), (["keys"], minimal("keys: [{ zzzzzz: 1 }]")),
            (["control"], minimal("control: { zzzzzz: 1 }")), (["push"], minimal("push: { zzzzzz: 1 }")),
            (["peers"], minimal("peers: [{ zzzzzz: 1 }]")),
            (["health"], minimal("health: { zzzzzz: 1 }")), (["metrics"], minimal("metrics: { zzzzzz: 1 }")),
            (["page"], minimal("page: { zzzzzz: 1 }")),
            (["adhoc"], minimal("adhoc: { zzzzzz: 1 }")),
            (
                ["profiles", "health"],
                "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, health: { zzzzzz: 1 } }] }"
            ),
        ] as [([String], String)])
    func keys(path: [String], text: String) throws {
        var schema = try JSONSerialization.jsonObject(with: Data(ConfigurationSchema.text.utf8))
        func object(_ schema: Any) -> [String: Any]? {
            guard let schema = schema as? [String: Any] else { return nil }
            if schema["properties"] != nil { return schema }
            if let items = schema["items"] { return object(items) }
            return (schema["anyOf"] as? [Any])?.compactMap(object).first
        }
        for key in path {
            schema = try #require((object(schema)?["properties"] as? [String: Any])?[key], "\(path)")
        }
        let properties = try #require(object(schema)?["properties"] as? [String: Any])
        let expected = try #require(refusal(text)?.expected.dropFirst("one of ".count))
        #expect(properties.keys.sorted() == expected.split(separator: ", ").map(String.init).sorted())
        #expect(object(schema)?["additionalProperties"] as? Bool == false)
    }

    @Test("the path of every object in the schema is among those that are compared with the reader")
    func objects() throws {
        let objects = ConfigurationSchema.text.split(separator: "\"additionalProperties\"").count - 1
        // As above, and `users` of http.
        #expect(objects == 25)
    }

    @Test("every default of the schema is the reader's")
    func defaults() throws {
        let schema = try JSONSerialization.jsonObject(with: Data(ConfigurationSchema.text.utf8))
        var compared = 0
        func compare(_ schema: Any, path: [String]) throws {
            guard let schema = schema as? [String: Any] else { return }
            for case let branch? in [schema["anyOf"] as? [Any]] {
                for inner in branch { try compare(inner, path: path) }
            }
            if let properties = schema["properties"] as? [String: Any] {
                for (key, inner) in properties { try compare(inner, path: path + [key]) }
            }
            let skipped = ["profiles", "keys", "ruleSets", "egress"]
            guard let value = schema["default"], let first = path.first, !skipped.contains(first), path.count <= 2
            else {
                return
            }
            let text = try String(
                decoding: JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed), as: UTF8.self)
            // A page is for the devices of a LAN.
            let lan = first == "page" ? "network: { setup: 'gateway', lan: ['eth0'] }, " : ""
            let required = first == "adhoc" ? "from: ['10.20.0.0/16'], " : ""
            let setting = path.count == 1 ? "\(first): \(text)" : "\(first): { \(required)\(path[1]): \(text) }"
            let least = path.count == 1 ? minimal() : minimal("\(lan)\(first): { \(required) }")
            #expect(try configuration(minimal(lan + setting)) == configuration(least), "\(setting)")
            compared += 1
        }
        try compare(schema, path: [])
        #expect(compared >= 50)
    }

    @Test("every example passes the schema", .enabled(if: SchemaValidator.isThere, "needs python3-jsonschema"))
    func examples() throws {
        let names = [
            "try.json5", "starship.json5", "squid.json5", "whistle.json5", "domain-mode.json5", "gateway.json5",
            "host.json5", "one-arm.json5", "lab.json5", "group.json5",
        ]
        var documents = try names.map { try plainJSON(example($0)) }
        let lines = try example("starship.json5").split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        for setting in try commentedOut() {
            var changed = lines
            changed[setting.line] = setting.setting
            documents.append(try plainJSON(changed.joined(separator: "\n")))
        }
        let complaints = try SchemaValidator.complaints(schema: ConfigurationSchema.text, documents)
        #expect(complaints.filter { !$0.isEmpty } == [])
    }

    @Test(
        "what the reader refuses for its shape the schema refuses too",
        .enabled(if: SchemaValidator.isThere, "needs python3-jsonschema"))
    func refused() throws {
        let complaints = try SchemaValidator.complaints(
            schema: ConfigurationSchema.text, try Self.broken.map(plainJSON))
        for (text, complaint) in zip(Self.broken, complaints) {
            #expect(refusal(text) != nil, "the reader takes \(text)")
            #expect(!complaint.isEmpty, "the schema takes \(text)")
        }
    }

    @Test("the schema of a pushed profile lets its id be missing")
    func pushed() throws {
        try #require(SchemaValidator.isThere)
        let profile = "{\"upstream\":{\"type\":\"direct\"}}"
        let complaints = try SchemaValidator.complaints(
            schema: ConfigurationSchema.profile.text, [profile, "{}", "{\"upstream\":{\"type\":\"http\"}}"])
        #expect(complaints.map(\.isEmpty) == [true, false, false])
    }

    static let broken = [
        "[]", "null", "{}", "{ profiles: [] }", "{ profiles: {} }", "{ profiles: ['a'] }", "{ profiles: [{}] }",
        "{ profiles: [{ id: 'a' }] }", "{ profiles: [{ id: 'a', upstream: {} }] }",
        "{ profiles: [{ id: '-a', upstream: { type: 'direct' } }] }",
        "{ profiles: [{ id: 'a', upstream: { type: 'group' } }] }", grouped("members: ['b']"),
        grouped("members: 'b'"), grouped("members: ['b', 'b']"), grouped("members: ['b', 'c'], choose: 'first'"),
        grouped("members: ['b', 'c'], host: 'h', port: 1"), grouped("members: ['b', 'c'], kind: 'squid'"),
        grouped("members: ['b', 'c'], halfClose: 'hold'"), grouped("members: ['b', 'c'], tolerance: '50ms'"),
        grouped("members: ['b', 'c'], choose: 'fastest', returnAfter: '60s'"),
        grouped("members: ['b', 'c'], choose: 'balance', tolerance: '50ms'"),
        grouped("members: ['b', 'c'], choose: 'balance', returnAfter: '60s'"),
        grouped("members: ['b', 'c'], whenDown: 'allow'"), minimal(upstream: "members: ['b', 'c']"),
        minimal(upstream: "whenDown: 'block'"),
        minimal("health: false"), minimal("health: true"), minimal("health: { url: 'https://h/' }"),
        minimal("health: { url: 'h/ok' }"), minimal("health: { url: 'http://u@h/' }"),
        minimal("health: { url: 'http://h/#x' }"), minimal("health: { url: 'http://h/ x' }"),
        minimal("health: { url: 'http://h/', status: 199 }"), minimal("health: { url: 'http://h/', status: [] }"),
        minimal("health: { url: 'http://h/', status: '200' }"), minimal("health: { url: 'http://h/', body: '**' }"),
        minimal("health: { via: 'socks' }"), minimal("health: { interval: 30 }"), minimal("health: { timeout: '-1s' }"),
        minimal("health: { giveUp: true }"),
        "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, health: true }] }",
        "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, health: { interval: '0' } }] }",
        minimal("metrics: true"), minimal("metrics: { listen: 10800 }"), minimal("metrics: { allow: '10.0.0.0/8' }"),
        minimal("page: true"), minimal("page: { port: 1023 }"), minimal("page: { port: '10080' }"),
        minimal("page: { viewers: '10.20.0.0/16' }"),
        minimal("adhoc: true"), minimal("adhoc: {}"), minimal("adhoc: { from: [] }"),
        minimal("adhoc: { from: ['10.0.0.0/8'], ports: 8899 }"),
        minimal("adhoc: { from: ['10.0.0.0/8'], ports: '8000-' }"),
        minimal("adhoc: { from: ['10.0.0.0/8'], lease: 3600 }"),
        "{ profiles: [{ id: 'a', upstream: { type: 'http', port: 1 } }] }",
        "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'h' } }] }",
        "{ profiles: [{ id: 'a', upstream: { type: 'direct', host: 'h' } }] }",
        "{ profiles: [{ id: 'a', upstream: { type: 'socks5', host: 'h', port: 1, http80: 'auto' } }] }",
        "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'http://h:1', port: 1 } }] }",
        "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'h', port: 70000 } }] }",
        "{ profiles: [{ id: 'a', selfService: 1, upstream: { type: 'direct' } }] }",
        minimal(upstream: "user: 'u'"), minimal(upstream: "passwordFile: 'p'"), minimal(upstream: "identify: 'yes'"),
        minimal("prfiles: []"), minimal("tun: true"), minimal("tun: { mtu: 1279 }"), minimal("tun: { mtu: '1500' }"),
        minimal("tun: { mtu: 1500.5 }"), minimal("tun: { name: 'sixteen-letters0' }"), minimal("tun: { name: '..' }"),
        minimal("tun: { offload: 'ful' }"), minimal("network: { setup: 'x' }"), minimal("network: { mark: '0' }"),
        minimal("network: { lan: [1] }"), minimal("dns: { mode: 'fake' }"), minimal("dns: { resolvers: [] }"),
        minimal("socks: []"), minimal("socks: { listen: 10808 }"), minimal("socks: { allow: '10.0.0.0/8' }"),
        minimal("socks: { users: [{ name: 'u' }] }"), minimal("limits: { dial: 5 }"), minimal("limits: { dial: '5' }"),
        minimal("limits: { buffers: '256MB' }"), minimal("limits: { synAck: '1s' }"),
        minimal("limits: { icmpErrors: -1 }"), minimal("limits: { sniffPorts: [0] }"),
        minimal("log: { level: 'verbose' }"),
        minimal("ruleSets: [{ name: 'a' }]"), minimal("ruleSets: [{ name: 'a', file: 'http://h/a' }]"),
        minimal("phones: { push: 'yes' }"), minimal("state: 'relative'"), minimal("state: true"), minimal("active: 1"),
        minimal("gateway: 'lab 3'"), minimal("devices: [{ name: 'x' }]"), minimal("devices: [{ address: '10.0.0.1' }]"),
        minimal("devices: [{ name: 'x', mac: '01:00:5e:00:00:01' }]"),
        minimal("devices: [{ name: 'x', mac: '3c:28:6d:12:34:56', address: '10.0.0.2' }]"),
        minimal("devices: [{ name: 'x', address: '10.0.0.2', interface: 'wlan0' }]"), minimal("newDevices: 'blok'"),
        minimal("lease: 12"), minimal("lease: true"), minimal("leases: 'x'"), minimal("keys: [{ id: 'k' }]"),
        minimal("keys: [{ id: 'k', file: 'http://h/k' }]"), minimal("keys: [{ id: 'k', file: '/k', scope: [] }]"),
        minimal("keys: [{ id: 'k', file: '/k', scope: ['x'] }]"),
        minimal("keys: [{ id: 'k', file: '/k', until: '30.06.2027' }]"), minimal("control: { socket: 'x' }"),
        minimal("push: {}"), minimal("push: { listen: [] , port: 1 }"),
    ]
}
