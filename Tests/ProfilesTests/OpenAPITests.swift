/// The description of the control API agrees with the configuration's schema, and takes what a client would send.

import Foundation
import Profiles
import TestSupport
import Testing

struct OpenAPITests {
    let text: String
    let document: [String: Any]

    init() throws {
        text = try example("openapi.json")
        document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func schemas() throws -> [String: Any] {
        try #require((document["components"] as? [String: Any])?["schemas"] as? [String: Any])
    }

    private static func plain(_ value: Any?) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: value ?? [], options: [.sortedKeys])
        return String(decoding: data, as: UTF8.self)
    }

    @Test("profiles and configurations are described as the configuration's schema describes them")
    func shared() throws {
        let schema = try JSONSerialization.jsonObject(with: Data(ConfigurationSchema.text.utf8))
        var whole = try #require(schema as? [String: Any])
        whole["$schema"] = nil
        let properties = try #require(whole["properties"] as? [String: Any])
        let profiles = try #require(properties["profiles"] as? [String: Any])
        let pushed = try JSONSerialization.jsonObject(with: Data(ConfigurationSchema.profile.text.utf8))
        let schemas = try schemas()
        var described = try #require(schemas["Configuration"] as? [String: Any])
        var keys = try #require(described["properties"] as? [String: Any])
        var list = try #require(keys["profiles"] as? [String: Any])
        #expect(try Self.plain(list["items"]) == "{\"$ref\":\"#\\/components\\/schemas\\/Profile\"}")
        list["items"] = schemas["Profile"]
        keys["profiles"] = list
        described["properties"] = keys
        #expect(try Self.plain(described) == Self.plain(whole))
        #expect(try Self.plain(schemas["Profile"]) == Self.plain(profiles["items"]))
        #expect(try Self.plain(schemas["PushedProfile"]) == Self.plain(pushed))
    }

    @Test("every sort of refusal of a configuration or a link is among the codes of an error")
    func codes() throws {
        let error = try #require(try schemas()["Error"] as? [String: Any])
        let inner = try #require((error["properties"] as? [String: Any])?["error"] as? [String: Any])
        let code = try #require((inner["properties"] as? [String: Any])?["code"] as? [String: Any])
        let codes = Set(try #require(code["enum"] as? [String]))
        #expect(codes.isSuperset(of: ConfigurationError.Code.allCases.map(\.rawValue)))
        #expect(codes.isSuperset(of: LinkError.Code.allCases.map(\.rawValue)))
    }

    @Test("every object that is ours names all its keys")
    func closed() throws {
        func check(_ value: Any, _ path: String) {
            if let list = value as? [Any] {
                for (index, element) in list.enumerated() { check(element, "\(path)[\(index)]") }
            }
            guard let object = value as? [String: Any] else { return }
            let isCondition = [".if", ".then", ".else", ".not"].contains(where: path.hasSuffix)
            if object["properties"] is [String: Any], !isCondition {
                #expect(object["additionalProperties"] as? Bool == false, "\(path)")
            }
            for (key, inner) in object { check(inner, "\(path).\(key)") }
        }
        check(try schemas(), "schemas")
    }

    @Test("each operation has a name of its own, and every error is answered as one")
    func operations() throws {
        var names: [String] = []
        for (path, methods) in try #require(document["paths"] as? [String: [String: [String: Any]]]) {
            for (method, operation) in methods {
                names.append(try #require(operation["operationId"] as? String))
                let responses = try #require(operation["responses"] as? [String: [String: Any]])
                #expect(responses["200"]?["content"] != nil, "\(method) \(path)")
                for (status, response) in responses where status >= "4" {
                    #expect((response["$ref"] as? String)?.hasPrefix("#/components/responses/") == true)
                }
                let hasBody = operation["requestBody"] != nil
                #expect((responses["415"] != nil) == hasBody, "\(method) \(path)")
            }
        }
        #expect(Set(names).count == names.count && names.count == 36)
    }

    private static let step = "{ step: 'connect', ok: false, ms: 3, error: 'port closed' }"
    private static let healthy = """
        { colour: 'yellow', cause: { code: 'port_closed', text: 'Nobody listens.' }, note: null, since: 1, nextProbe: null,
          layers: { connect: { ok: false, ms: null, at: 1, misses: 1 }, request: null, traffic: null } }
        """

    static let bodies: [(schema: String, body: String, isGood: Bool)] = [
        ("Activation", "{ profile: 'a', device: 'pixel-7' }", true),
        (
            "Activation", "{ profile: 'a', device: '3c:28:6d:12:34:56@wlan0', for: '2h', drain: '0.5s', confirm: 60 }",
            true
        ),
        ("Activation", "{ profile: 'a', device: 'x', for: 'forever', now: true }", true),
        ("Activation", "{ profile: 'a', all: true, override: true }", true),
        ("Activation", "{ profile: 'a', device: null, all: true }", true),
        ("Activation", "{ profile: 'a' }", false), ("Activation", "{ device: 'x' }", false),
        ("Activation", "{ profile: 'a', device: 'x', all: true }", false),
        ("Activation", "{ profile: 'a', all: false }", false), ("Activation", "{ profile: 'a', all: 'yes' }", false),
        ("Activation", "{ profile: 'a', device: 'x', override: true }", false),
        ("Activation", "{ profile: 'a', all: true, for: '2h' }", false),
        ("Activation", "{ profile: 'a', device: 'x', for: '30s' }", false),
        ("Activation", "{ profile: 'a', device: 'x', drain: '31s' }", false),
        ("Activation", "{ profile: 'a', device: 'x', drain: '1s', now: true }", false),
        ("Activation", "{ profile: 'a', device: 'x', confirm: 0 }", false), ("Activation", "[]", false),
        ("Release", "{ device: 'x' }", true), ("Release", "{ all: true }", true), ("Release", "{}", false),
        ("Release", "{ device: 'x', for: '2h' }", false),
        ("LinkUse", "{ link: 'starship://activate?v=1&profile=a', check: true }", true),
        ("LinkUse", "{ link: 'starship://activate?v=1&profile=a', device: 'x' }", true),
        ("LinkUse", "{ link: 'starship://activate?v=1&profile=a' }", false), ("LinkUse", "{ device: 'x' }", false),
        ("LinkWish", "{ profile: 'a' }", true), ("LinkWish", "{ profile: 'a', form: 'page', page: '10.9.0.1' }", true),
        ("LinkWish", "{ profile: 'a', form: 'page' }", false), ("LinkWish", "{ profile: 'a', host: 'h' }", false),
        ("LinkWish", "{ host: 'h', port: 1, key: 'k', for: '30d', gateway: true, once: true }", true),
        ("LinkWish", "{ host: 'h', port: 1 }", false), ("LinkWish", "{ host: 'h', port: 0, key: 'k' }", false),
        ("DeviceName", "{ name: 'pixel-7' }", true), ("DeviceName", "{ name: null }", true),
        ("DeviceListWish", "{ direct: ['a.example'], proxied: [] }", true),
        ("DeviceListWish", "{ proxied: ['*.a.example'], now: true }", true), ("DeviceListWish", "{}", false),
        ("DeviceListWish", "{ direct: null }", false), ("DeviceListWish", "{ direct: 'a.example' }", false),
        ("DeviceListWish", "{ direct: [1] }", false), ("DeviceListWish", "{ direct: [], for: '2h' }", false),
        ("DeviceListWish", "{ direct: [], drain: '1s', now: true }", false),
        ("DeviceName", "{}", false), ("DeviceName", "{ name: 'my phone' }", false),
        ("RevisionNumber", "{ revision: 0 }", true), ("RevisionNumber", "{ revision: '1' }", false),
        ("Overlay", "{}", false), ("Overlay", "[]", false), ("Overlay", "{ active: null }", true),
        ("Overlay", "{ profiles: [{ id: 'a', upstream: { type: 'direct' } }], devices: [] }", true),
        ("Overlay", "{ profiles: [{ upstream: { type: 'direct' } }] }", false),
        ("Overlay", "{ devices: [{ name: 'x', mac: '3c:28:6d:12:34:56', profile: 'a' }] }", false),
        ("CaptureWish", "{}", true), ("CaptureWish", "{ file: 'a.pcap', filter: 'port 53', files: 2 }", true),
        ("CaptureWish", "{ file: '../a' }", false), ("CaptureWish", "{ file: '/etc/x' }", false),
        ("ProbeWish", "{}", true),
        ("ProbeWish", "{ profile: 'a', urls: ['http://h/ok', 'HTTP://10.0.0.1:8080?x'] }", true),
        ("ProbeWish", "{ urls: [] }", false), ("ProbeWish", "{ urls: ['https://h/'] }", false),
        ("ProbeWish", "{ urls: 'http://h/' }", false), ("ProbeWish", "{ url: 'http://h/' }", false),
        ("Profile", "{ id: 'a', upstream: { type: 'group', members: ['b', 'c'] }, health: { giveUp: false } }", true),
        ("Profile", "{ id: 'a', upstream: { type: 'group', members: ['b'] } }", false),
        ("Profile", "{ id: 'a', upstream: { type: 'direct' }, health: false }", true),
        ("Health", healthy, true), ("Health", "{ colour: 'blue' }", false),
        (
            "Probe",
            "{ profile: 'a', steps: [\(step), { step: 'page', ok: null, ms: null, error: null }], health: \(healthy) }",
            true
        ),
        (
            "Probe", "{ profile: 'a', steps: [{ step: 'tls', ok: true, ms: 1, error: null }], health: \(healthy) }",
            false
        ),
        ("ProbeChoice", "{ chosen: null, tried: [{ url: 'http://h/', ok: false, cause: 'x' }] }", true),
        (
            "GroupState",
            "{ profile: 'g', choose: 'fastest', members: [{ id: 'a', colour: 'red' }], chosen: null }", true
        ),
    ]

    @Test(
        "bodies are described so that what the server takes passes, and what it refuses for its shape does not",
        .enabled(if: SchemaValidator.isThere, "needs python3-jsonschema"))
    func bodies() throws {
        let components = try Self.plain(document["components"])
        for schema in Set(Self.bodies.map(\.schema)).sorted() {
            let rows = Self.bodies.filter { $0.schema == schema }
            let complaints = try SchemaValidator.complaints(
                schema: "{\"$ref\":\"#/components/schemas/\(schema)\",\"components\":\(components)}",
                rows.map { try plainJSON($0.body) })
            for (row, complaint) in zip(rows, complaints) {
                #expect(complaint.isEmpty == row.isGood, "\(schema): \(row.body): \(complaint)")
            }
        }
    }

    @Test(
        "what this program writes passes the description of the answers",
        .enabled(if: SchemaValidator.isThere, "needs python3-jsonschema"))
    func answers() throws {
        let components = try Self.plain(document["components"])
        var random = RandomSettings(seed: 11)
        let states = (0..<20).map { _ in random.lab() }
        let exported = try ["lab.json5", "starship.json5", "gateway.json5", "group.json5"].map {
            try configuration(example($0))
        }
        let rows: [(String, [String])] = [
            ("Overlay", states.map(\.overlay.text)),
            ("Profile", states.flatMap(\.profiles).map(\.json.text)),
            ("Configuration", exported.map(\.json.text)),
            (
                "Layers",
                exported.map { "{\"file\":\"/x\",\"overlay\":\(states[0].overlay.text),\"effective\":\($0.json.text)}" }
            ),
            (
                "Differences",
                [
                    "{\"differences\":[\(exported[0].differences(from: exported[2]).map(\.json.text).joined(separator: ","))]}"
                ]
            ),
        ]
        for (schema, documents) in rows {
            let complaints = try SchemaValidator.complaints(
                schema: "{\"$ref\":\"#/components/schemas/\(schema)\",\"components\":\(components)}", documents)
            #expect(complaints.filter { !$0.isEmpty } == [], "\(schema)")
        }
    }
}
