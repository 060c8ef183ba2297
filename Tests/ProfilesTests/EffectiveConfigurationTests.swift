/// The lab's state laid over the administrator's file.

import Addresses
import Devices
import Profiles
import Routing
import Testing

struct EffectiveConfigurationTests {
    static let file = """
        {
          profiles: [
            { id: 'a', upstream: { type: 'http', host: 'a.example', port: 1 }, rules: ['RULE-SET,ads,REJECT'] },
            { id: 'b', upstream: { type: 'direct' }, domains: ['b.example'] },
          ],
          active: 'b',
          ruleSets: [{ name: 'ads', file: 'ads.txt' }],
          devices: [{ name: 'tv', mac: '3c:28:6d:00:00:01' }, { name: 'stb', address: '10.9.0.40', profile: 'b' }],
        }
        """
    static let lists = ["ads.txt": Array("ads.example\n".utf8)]

    static func stored(_ id: String, _ more: String = "") throws -> Profile {
        let bytes = Array("{ upstream: { type: 'http', host: '\(id).example', port: 2 \(more) }".utf8)
        return try Profile.parse(bytes.span, id: id)
    }

    static func device(_ name: String, _ identity: String) throws -> NamedDevice {
        NamedDevice(name: name, identity: try #require(DeviceIdentity(parsing: identity)))
    }

    @Test("without a state the file counts as it is")
    func nothing() throws {
        let file = try configuration(Self.file)
        let effective = try EffectiveConfiguration(file: file, lab: LabState())
        #expect(effective.configuration == file)
        #expect(effective.notices.isEmpty && effective.assignments.isEmpty)
    }

    @Test("the file's profiles and devices come first and hide stored ones of the same name")
    func laid() throws {
        var lab = LabState()
        lab.profiles = [try Self.stored("c", "}"), try Self.stored("a", "}")]
        lab.devices = [
            try Self.device("pixel", "3c:28:6d:00:00:02"), try Self.device("tv", "3c:28:6d:00:00:03"),
            try Self.device("other-tv", "3c:28:6d:00:00:01@wlan0"),
        ]
        lab.active = "c"
        lab.assignments = [
            Assignment(device: .address(IPAddress(v4: 1)), profile: "c", since: 1, until: nil, by: "root"),
            Assignment(device: .address(IPAddress(v4: 2)), profile: "gone", since: 1, until: nil, by: "root"),
        ]
        let effective = try EffectiveConfiguration(file: configuration(Self.file), lab: lab)
        #expect(effective.configuration.profiles.map(\.id) == ["a", "b", "c"])
        #expect(effective.configuration.profile("a")?.upstream.server?.description == "a.example:1")
        #expect(effective.configuration.active == "c")
        #expect(effective.storedProfiles == ["c"] && effective.hiddenProfiles == ["a"])
        #expect(effective.configuration.devices.map(\.name) == ["tv", "stb", "pixel"])
        #expect(effective.storedDevices == ["pixel"] && effective.hiddenDevices == ["tv", "other-tv"])
        #expect(effective.assignments.map(\.profile) == ["c"])
        #expect(
            effective.notices == [
                "the file's profile a hides the stored one",
                "the name tv that was given here is hidden: the file has another device of this name",
                "the name other-tv that was given here is hidden: the file calls the device tv",
                "the profile gone of 0.0.0.2 is gone; it has none of its own",
            ])
    }

    @Test("an active profile that is gone gives way to the file's")
    func gone() throws {
        var lab = LabState()
        lab.active = "c"
        let effective = try EffectiveConfiguration(file: configuration(Self.file), lab: lab)
        #expect(effective.configuration.active == "b")
        #expect(effective.notices == ["the active profile c is gone; the file's counts: b"])
    }

    @Test("a stored profile's secret is a file in the state directory")
    func secret() throws {
        var lab = LabState()
        lab.profiles = [try Self.stored("c", ", user: 'u', passwordFile: 'pw' }")]
        let effective = try EffectiveConfiguration(file: configuration(Self.file), lab: lab)
        #expect(
            effective.configuration.profile("c")?.upstream.credentials?.password
                == .file("/var/lib/starship/secrets/pw"))
    }

    @Test("a pushed profile that contradicts the file is refused; an old one is left out with a notice")
    func contradiction() throws {
        var lab = LabState()
        let bytes = Array("{ upstream: { type: 'socks5', host: '127.0.0.1', port: 10808 } }".utf8)
        lab.profiles = [
            try Profile.parse(bytes.span, id: "loop"), try Self.stored("d", "}, rules: ['MATCH,loop']"),
            try Self.stored("e", "}"),
        ]
        lab.active = "d"
        let file = try configuration(Self.file)
        #expect(throws: ConfigurationError.self) { try EffectiveConfiguration(file: file, lab: lab) }
        let (effective, resolved) = try EffectiveConfiguration.fitting(file: file, lab: lab, files: Self.lists)
        #expect(effective.configuration.profiles.map(\.id) == ["a", "b", "e"])
        #expect(effective.configuration.active == "b")
        #expect(effective.notices.count == 3)
        #expect(effective.notices[0].hasPrefix("the stored profile loop is left out: "))
        #expect(effective.notices[1].hasPrefix("the stored profile d is left out: "))
        #expect(resolved.rules(of: "e").mode == .global)
    }

    @Test("rules of a pushed profile are checked at their place in its own text")
    func rules() throws {
        let resolved = try configuration(Self.file).resolve(files: Self.lists)
        let good = try Self.stored("c", "}, rules: ['RULE-SET,ads,b', 'MATCH,c']")
        try good.check(in: resolved)
        let bad = try Self.stored("c", "},\n rules: ['RULE-SET,ads,DIRECT',\n 'MATCH,x']")
        let error = #expect(throws: ConfigurationError.self) { try bad.check(in: resolved) }
        #expect(error?.path == "rules[1]")
        #expect(error?.position == TextPosition(line: 3, column: 2))
    }

    @Test("a hit in a stored profile names no line of the file")
    func explanation() throws {
        var lab = LabState()
        lab.profiles = [try Self.stored("c", "}, domains: ['c.example']")]
        lab.active = "c"
        let effective = try EffectiveConfiguration(file: configuration(Self.file), lab: lab)
        let resolved = try effective.configuration.resolve(files: Self.lists, name: "lab.json5")
        let origin = resolved.rules(of: "c").decide(RouteQuery(name: "c.example")).origin
        #expect(origin?.description.contains("lab.json5") == false)
    }
}

/// A switch makes no rule again that is there.
struct RenewalTests {
    static func file(rule: String = "RULE-SET,ads,REJECT", more: String = "") -> String {
        """
        {
          profiles: [
            { id: 'a', upstream: { type: 'direct' }, rules: ['\(rule)'] },
            { id: 'b', upstream: { type: 'direct' }, domains: ['b.example'] }, \(more)
          ],
          ruleSets: [{ name: 'ads', file: 'ads.txt' }],
        }
        """
    }

    static let name = RouteQuery(name: "ads.example")

    @Test("lists are not read again, and rules of profiles that are equal stay")
    func reused() throws {
        let first = try configuration(Self.file()).resolve(files: EffectiveConfigurationTests.lists)
        // Without the file's bytes nothing could be made again.
        let text = Self.file(more: "{ id: 'c', upstream: { type: 'direct' }, rules: ['RULE-SET,ads,a'] }")
        #expect(throws: ConfigurationError.self) { try configuration(text).resolve() }
        let second = try configuration(text).resolve(reusing: first)
        #expect(second.rules(of: "a").verdict(Self.name) == .reject)
        #expect(second.rules(of: "c").verdict(Self.name) == .profile("a"))
    }

    @Test("a profile whose rules are others has the new ones")
    func changed() throws {
        let first = try configuration(Self.file()).resolve(files: EffectiveConfigurationTests.lists)
        let second = try configuration(Self.file(rule: "RULE-SET,ads,DIRECT")).resolve(reusing: first)
        #expect(second.rules(of: "a").verdict(Self.name) == .direct)
    }

    @Test("a rule that leads to a profile which is gone is refused, also when its own profile has not changed")
    func gone() throws {
        let more = "{ id: 'c', upstream: { type: 'direct' } }"
        let first = try configuration(Self.file(rule: "MATCH,c", more: more)).resolve(
            files: EffectiveConfigurationTests.lists)
        let error = #expect(throws: ConfigurationError.self) {
            try configuration(Self.file(rule: "MATCH,c")).resolve(reusing: first)
        }
        #expect(error?.path == "profiles[0].rules[0]")
    }

    @Test("a list under another name or of another file is read")
    func otherList() throws {
        let first = try configuration(Self.file()).resolve(files: EffectiveConfigurationTests.lists)
        let other = Self.file().replacing("ads.txt", with: "more.txt")
        #expect(throws: ConfigurationError.self) { try configuration(other).resolve(reusing: first) }
        let second = try configuration(other).resolve(
            files: ["more.txt": Array("other.example\n".utf8)], reusing: first)
        #expect(second.rules(of: "a").verdict(Self.name) != .reject)
        #expect(second.rules(of: "a").verdict(RouteQuery(name: "other.example")) == .reject)
    }
}

/// What `starshipctl diff` shows.
struct DifferenceTests {
    @Test("each key that differs is named by its path, entries of lists by their names")
    func paths() throws {
        let file = try configuration(minimal("devices: [{ name: 'tv', address: '10.0.0.2' }], lease: '1h'"))
        var running = try configuration(
            minimal("devices: [{ name: 'tv', address: '10.0.0.3' }], http: {}", upstream: "identify: true"))
        running.profiles.append(Profile(id: "new", name: "new", upstream: Upstream(type: .direct, server: nil)))
        running.active = "new"
        #expect(
            running.differences(from: file).map(\.description) == [
                "profiles[a].upstream.identify: not in the file, running true",
                "profiles[new]: not in the file, running {\"id\":\"new\",\"upstream\":{\"type\":\"direct\"}}",
                "active: file \"a\", running \"new\"",
                "devices[tv].address: file \"10.0.0.2\", running \"10.0.0.3\"",
                "lease: file \"60m\", not running",
                "http: not in the file, running {}",
            ])
        #expect(file.differences(from: file).isEmpty)
        let json = running.differences(from: file)[0].json.text
        #expect(json == "{\"path\":\"profiles[a].upstream.identify\",\"file\":null,\"running\":true}")
    }

    @Test("lists without names differ as a whole, an order of profiles is a difference too")
    func lists() throws {
        let file = try configuration("{ profiles: [{ id: 'a', upstream: { type: 'direct' }, domains: ['a', 'b'] }] }")
        let other = try configuration("{ profiles: [{ id: 'a', upstream: { type: 'direct' }, domains: ['a'] }] }")
        #expect(
            other.differences(from: file).map(\.description) == [
                "profiles[a].domains: file [\"a\",\"b\"], running [\"a\"]"
            ])
        let profiles = "{ id: 'a', upstream: { type: 'direct' } }, { id: 'b', upstream: { type: 'direct' } }"
        let turned = "{ id: 'b', upstream: { type: 'direct' } }, { id: 'a', upstream: { type: 'direct' } }"
        let left = try configuration("{ profiles: [\(profiles)], active: 'a' }")
        let right = try configuration("{ profiles: [\(turned)], active: 'a' }")
        #expect(right.differences(from: left).map(\.path) == ["profiles"])
    }
}
