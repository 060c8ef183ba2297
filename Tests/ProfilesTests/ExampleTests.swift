/// The files in Configs/ are right, and their comments say what the program does.

import Addresses
import Glibc
import Profiles
import Routing
import Testing

/// The text of one of the files in Configs/.
func example(_ name: String) throws -> String {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let descriptor = unsafe open("/\(root)/Configs/\(name)", O_RDONLY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 18)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    try #require(count > 0)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
}

/// A commented-out setting of starship.json5.
struct CommentedOut: Sendable, CustomTestStringConvertible {
    let line: Int
    let setting: String
    /// Whether the line shows the default, and not just an example.
    let isDefault: Bool

    var testDescription: String { "line \(line + 1): \(setting)" }
}

/// The settings of starship.json5 that stand behind comment marks.
func commentedOut() throws -> [CommentedOut] {
    var settings: [CommentedOut] = []
    let lines = try example("starship.json5").split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
        var text = line.drop { $0 == " " }
        guard text.hasPrefix("// ") else { continue }
        text = text.dropFirst(3)
        let isExample = text.hasPrefix("e.g. ")
        if isExample { text = text.dropFirst(5) }
        let key = text.prefix { $0.isLetter || $0.isNumber }
        guard !key.isEmpty, text.dropFirst(key.count).hasPrefix(": ") else { continue }
        settings.append(CommentedOut(line: number, setting: String(text), isDefault: !isExample))
    }
    return settings
}

struct ExampleTests {
    @Test(
        "every example is a right configuration, its rules too",
        arguments: [
            "try.json5", "starship.json5", "squid.json5", "whistle.json5", "domain-mode.json5", "gateway.json5",
            "host.json5", "one-arm.json5", "lab.json5", "group.json5", "keepalived/pair.json5", "ways/lan.json5",
        ])
    func parses(name: String) throws {
        let configuration = try configuration(example(name))
        let resolved = try configuration.resolve()
        #expect(resolved.configuration == configuration)
        #expect(configuration.listFiles.isEmpty)
    }

    @Test("the example of a lab's box has two networks with a profile each")
    func lab() throws {
        let configuration = try configuration(example("gateway.json5"))
        #expect(configuration.network.setup == .gateway)
        #expect(
            configuration.network.lan == [
                NetworkOptions.LAN(interface: "wlan0"), NetworkOptions.LAN(interface: "eth1.20", profile: "release"),
            ])
        let resolved = try configuration.resolve()
        #expect(resolved.rules(of: "qa").mode == .domain)
        #expect(resolved.rules(of: "release").mode == .global)
    }

    @Test("the example to try has the embedded upstream behind its profile")
    func embedded() throws {
        let configuration = try configuration(example("try.json5"))
        #expect(configuration.tunnel?.name == "starship0")
        #expect(configuration.http?.outbound == .direct)
        let listener = configuration.http?.listen.map(\.description)
        #expect(listener == ["127.0.0.1:10809"])
        #expect(configuration.activeProfile.upstream.server?.description == "127.0.0.1:10809")
        #expect(configuration.socks != nil)
    }

    @Test(
        "every commented-out line of starship.json5 is what it says: the default, or an example",
        arguments: try commentedOut())
    func commented(setting: CommentedOut) throws {
        var lines = try example("starship.json5").split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        let plain = try configuration(lines.joined(separator: "\n"))
        lines[setting.line] = setting.setting
        // An example of a reachable listener or of users needs no other line; where it does, both are on it.
        let changed = try configuration(lines.joined(separator: "\n"))
        #expect((changed == plain) == setting.isDefault)
    }

    @Test("all defaults of starship.json5 together change nothing, and none is missing")
    func complete() throws {
        var lines = try example("starship.json5").split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        let plain = try configuration(lines.joined(separator: "\n"))
        let settings = try commentedOut()
        for setting in settings where setting.isDefault { lines[setting.line] = setting.setting }
        #expect(try configuration(lines.joined(separator: "\n")) == plain)
        var defaults = Configuration(profiles: plain.profiles)
        defaults.dns.mode = .fake
        #expect(plain == defaults)

        // An unknown key's error lists what is known: each must be in the file, set or commented out.
        let text = try example("starship.json5")
        let profile = refusal("{ profiles: [{ zzzzzz: 1 }] }")
        for key in try #require(profile?.expected.split(separator: " ").dropFirst(2)) {
            #expect(text.contains("\(key.filter { $0 != "," }): "), "\(key)")
        }
        let objects = [
            "", "tun", "network", "dns", "socks", "http", "health", "phones", "limits", "log", "control", "push",
            "metrics", "page", "adhoc",
        ]
        for object in objects {
            let error = refusal(object.isEmpty ? minimal("zzzzzz: 1") : minimal("\(object): { zzzzzz: 1 }"))
            let known = try #require(error?.expected.split(separator: " ").dropFirst(2).map { $0.filter { $0 != "," } })
            for key in known { #expect(text.contains("\(key): ") || text.contains("\(key):  "), "\(key)") }
        }
    }
}
