/// The page as a phone's browser has it: headless Chromium in the devices' namespaces, of a phone's size.
///
///     device, tablet, laptop ── gateway ── internet: tinyproxy, mitmproxy, nobody at port 9 ── origin
///
/// The browsers ask the resolver that the device asks, so a name is what it is for that device at that time.

import Foundation
import TestSupport
import Testing

/// A gateway with a page, a few profiles, and devices with a browser.
struct PageLab {
    static let isPossible = RouteLab.isPossible && Lab.has("chromium-headless-shell") && Lab.has("curl")

    static let page = "http://10.9.0.1"
    /// axe-core's script, which Debian doesn't have: `scripts/test` gets it from PyPI.
    static let axe: String? = {
        let libraries = Lab.sources.appending(path: ".build/venv/lib")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: libraries.path)) ?? []
        return versions.map { "\(libraries.path)/\($0)/site-packages/axe_core_python/axe.min.js" }
            .first { FileManager.default.fileExists(atPath: $0) }
    }()

    let routes: RouteLab
    /// mitmproxy, which says what it is asked for.
    let reader: LabProgram?
    /// What the daemon was started with.
    let settings: Daemon.Settings
    let daemon: Daemon

    var lab: Lab { routes.lab }

    /// Everybody has the profile `lab`, in global mode unless `change` says otherwise.
    ///
    /// With a reader there are the self-service profiles `mitm`, which leads to it, and `dead`, which leads nowhere.
    init(
        hasReader: Bool = false, hasLaptop: Bool = false,
        _ change: (inout Daemon.Settings, Lab) throws -> Void = { _, _ in }
    ) throws {
        routes = try RouteLab()
        try routes.lab.addTablet()
        if hasLaptop { try routes.lab.addLaptop() }
        let port = Upstream.mitmproxy.port
        reader = hasReader ? try Self.startReader(in: routes.lab, .internet) : nil
        var settings = routes.settings(
            more: """
                clock: "trust", gateway: "lab-1",
                page: { viewers: ["10.9.0.0/24"] }, adhoc: { from: ["10.9.0.0/24"] },
                health: { url: "http://198.51.100.10/", body: "peer *", interval: "5s", timeout: "4s", slow: "3s" },
                """)
        settings.isProbed = true
        if hasReader {
            settings.profiles = """
                { id: "mitm", name: "Reader", selfService: true,
                  upstream: { type: "http", host: "10.77.0.2", port: \(port), kind: "mitmproxy" } },
                { id: "dead", name: "Nobody there", selfService: true,
                  upstream: { type: "http", host: "10.77.0.2", port: 9 } }
                """
        }
        try change(&settings, routes.lab)
        self.settings = settings
        daemon = try routes.start(settings)
        try showAddresses(hasLaptop ? [.device, .tablet, .laptop] : [.device, .tablet])
    }

    /// Has the devices ask for the gateway, as whoever comes to a LAN does: their addresses are known then.
    private func showAddresses(_ places: [Lab.Place]) throws {
        for place in places {
            for gateway in ["10.9.0.1", "fd00:9::1"] { try lab.run(place, ["ping", "-c", "1", "-W", "2", gateway]) }
        }
    }

    /// Starts mitmproxy as it comes from Debian, but that it says what it is asked for.
    static func startReader(in lab: Lab, _ place: Lab.Place) throws -> LabProgram {
        let port = Upstream.mitmproxy.port
        let files = "\(lab.directory.path)/mitm"
        let program = try lab.start(place, ["mitmdump", "--listen-port", "\(port)", "--set", "confdir=\(files)"])
        try lab.waitForPort(port, of: "0.0.0.0", in: place)
        return program
    }

    static let whistlePort = 8899

    /// Starts a proxy that does what Whistle does, on all addresses; it says what it is asked for.
    static func startWhistle(in lab: Lab, _ place: Lab.Place) throws -> LabProgram {
        let files = "\(lab.directory.path)/whistle"
        let program = try lab.start(place, Lab.python(["whistle_like.py", "0.0.0.0", "\(whistlePort)", files]))
        try program.waitFor("ready")
        return program
    }

    func control(_ arguments: String...) throws -> String {
        try lab.run(.gateway, ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab)] + arguments).output
    }

    /// What has changed, newest first, each as `by how: what`.
    func history() throws -> [String] {
        let object = try JSONSerialization.jsonObject(with: Data(control("history", "--json").utf8)) as? [String: Any]
        return (object?["revisions"] as? [[String: Any]] ?? []).map { revision in
            ["by", "how", "summary"].map { revision[$0] as? String ?? "" }.joined(separator: " ")
        }
    }

    /// Which device has which profile of its own, and until when; its addresses come and go.
    func assignments() throws -> [[Substring]] {
        try control("devices").split(separator: "\n").map { Array($0.split(separator: " ").prefix(5)) }
            .filter { $0.contains("assignment") }
    }

    // The browsers

    /// How a phone looks at the page.
    struct Manner: CustomStringConvertible, Sendable {
        var isDark: Bool
        var hasScript: Bool
        /// The page's, without a path.
        var address: String

        static let both = [
            Manner(isDark: false, hasScript: true, address: "http://starship.internal"),
            Manner(isDark: true, hasScript: false, address: page),
        ]

        /// What a browser is told first.
        var commands: String { "\(isDark ? "dark" : "light")\n\(hasScript ? "script" : "no-script")" }

        /// The command that waits for what a page shows later.
        var until: String { hasScript ? "until" : "again" }

        var description: String { "\(isDark ? "dark" : "light"), \(hasScript ? "script" : "no script"), \(address)" }
    }

    /// Has a device's browser do commands of `page.py`, one a line.
    ///
    /// It asks the device's resolver for names, but for those of `names`, each `NAME=ADDRESS`.
    func browse(
        on place: Lab.Place = .device, asking resolver: String = "10.9.0.1", names: [String] = [], _ commands: String
    ) throws -> Walk {
        let files = "\(lab.directory.path)/\(place.rawValue)"
        try "nameserver \(resolver)\n".write(toFile: "\(files).resolv", atomically: true, encoding: .utf8)
        try "127.0.0.1 localhost\n::1 localhost\n".write(toFile: "\(files).hosts", atomically: true, encoding: .utf8)
        // Each program in a namespace of `ip netns` has mounts of its own.
        let mounted = "mount --bind '\(files).hosts' /etc/hosts && mount --bind '\(files).resolv' /etc/resolv.conf"
        let browser = Lab.python(["page.py", "\(files).browser"] + names)
        let command = ["sh", "-c", "\(mounted) && exec \"$@\"", "sh"] + browser
        let result = try lab.run(place, command, input: commands, within: 120)
        guard result.status == 0 else {
            throw LabError("the browser ended with \(result.status): \(result.output) \(result.errors)")
        }
        let lines = result.output.split(separator: "\n")
        let asked = commands.split(separator: "\n")
        guard lines.count == asked.count else { throw LabError("\(lines.count) answers for \(asked.count) commands") }
        var walk = Walk()
        for (command, line) in zip(asked, lines) {
            walk.add(try JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed), of: command)
        }
        return walk
    }

    /// What looks a page over: whether it fits a phone, and, where axe-core is there, what that finds.
    static var survey: String { axe.map { "look\naxe \($0)" } ?? "look" }

    /// What a device's browser showed, each kind in its order.
    struct Walk {
        struct Page {
            let status: Int
            let url: String
            let title: String
        }

        /// A field of a form.
        struct Field: Equatable {
            let value: String
            /// What describes it, as it is read aloud.
            let words: String
            /// Whether it is marked as wrong.
            let isInvalid: Bool
        }

        var pages: [Page] = []
        var texts: [String] = []
        var fields: [Field] = []
        var ticks: [Bool] = []
        var looks: [[String: Any]] = []
        /// What each run of axe-core has found.
        var faults: [[String]] = []
        /// What was asked and answered, such as `GET http://10.9.0.1/ 200`.
        var answers: [[String]] = []
        var frames: [[String]] = []
        var sources: [[String: String]] = []
        var posts: [Int] = []

        var statuses: [Int] { pages.map(\.status) }

        mutating func add(_ value: Any, of command: Substring) {
            switch command.prefix(while: { $0 != " " }) {
            case "open", "begin", "press":
                let page = value as? [String: Any] ?? [:]
                pages.append(
                    Page(
                        status: page["status"] as? Int ?? 0, url: page["url"] as? String ?? "",
                        title: page["title"] as? String ?? ""))
            case "text": texts.append(value as? String ?? "")
            case "field":
                let field = value as? [String: Any] ?? [:]
                fields.append(
                    Field(
                        value: field["value"] as? String ?? "", words: field["words"] as? String ?? "",
                        isInvalid: field["invalid"] as? Bool ?? false))
            case "tick": ticks.append(value as? Bool ?? false)
            case "look": looks.append(value as? [String: Any] ?? [:])
            case "axe": faults.append(value as? [String] ?? ["axe gave nothing"])
            case "answers": answers.append(value as? [String] ?? [])
            case "frames": frames.append(value as? [String] ?? [])
            case "source": sources.append(value as? [String: String] ?? [:])
            case "post": posts.append(value as? Int ?? 0)
            default: break
            }
        }

        /// What is true of every page that was surveyed: it fits a phone, and axe-core finds nothing wrong with it.
        func expectGood(isDark: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
            for look in looks { PageLab.expectPhone(look, isDark: isDark, sourceLocation: sourceLocation) }
            #expect(faults.flatMap(\.self) == [], sourceLocation: sourceLocation)
        }
    }

    /// What is true of every page on a phone: it fits, its buttons can be hit, and it has the phone's colours.
    static func expectPhone(
        _ look: [String: Any], isDark: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(look["width"] as? Int == 390 && look["content"] as? Int == 390, sourceLocation: sourceLocation)
        #expect(look["low"] as? [String] == [], sourceLocation: sourceLocation)
        let back = (look["back"] as? String ?? "").split { !$0.isNumber }.compactMap { Int($0) }
        #expect(back.count == 3 && back.allSatisfy { isDark ? $0 < 64 : $0 > 192 }, sourceLocation: sourceLocation)
    }

    // What came of it

    /// Whether mitmproxy has said that it was asked for a page of this host.
    func readerWasAsked(_ host: String) -> Bool { reader?.output.contains("GET http://\(host)/") ?? false }

    /// A talk of the other device that goes on until somebody ends it.
    func talk() throws -> LabProgram {
        let program = try lab.start(
            .tablet, Lab.python(["routes.py", "talk", try routes.address(of: "socket.example"), "300"]))
        try program.waitFor("peer")
        return program
    }

    /// The other device's connection has gone on, and its next one goes through the proxy of all.
    func expectUntouched(_ talk: LabProgram, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let words = talk.output.split(separator: "\n").count
        let goesOn = Lab.wait { talk.output.split(separator: "\n").count > words + 5 }
        #expect(goesOn, "\(talk.output.suffix(200))", sourceLocation: sourceLocation)
        #expect(talk.isRunning && !talk.output.contains("broken"), sourceLocation: sourceLocation)
        let shown = try browse(on: .tablet, "open http://web.example/\ntext").texts[0]
        #expect(shown.hasPrefix(RouteLab.proxied), "\(shown)", sourceLocation: sourceLocation)
        #expect(routes.proxyWasAsked("web.example:80"), sourceLocation: sourceLocation)
    }
}
