/// The page as a phone's browser has it: headless Chromium in the devices' namespaces, of a phone's size.
///
///     device, tablet ── gateway ── internet: tinyproxy, mitmproxy, nobody at port 9 ── origin

import Foundation
import TestSupport
import Testing

/// A gateway with a page, three profiles, and two devices with a browser.
private struct PageLab {
    static let isPossible =
        RouteLab.isPossible && Upstream.mitmproxy.isAvailable && Lab.has("chromium-headless-shell") && Lab.has("curl")

    static let page = "http://10.9.0.1"
    /// axe-core's script, which Debian doesn't have: `scripts/test` gets it from PyPI.
    static let axe: String? = {
        let libraries = Lab.sources.appending(path: ".build/venv/lib")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: libraries.path)) ?? []
        return versions.map { "\(libraries.path)/\($0)/site-packages/axe_core_python/axe.min.js" }
            .first { FileManager.default.fileExists(atPath: $0) }
    }()

    let routes: RouteLab
    /// It says what it is asked for.
    let reader: LabProgram
    let daemon: Daemon

    var lab: Lab { routes.lab }
    /// Where mitmproxy has its authority.
    var authority: String { "\(lab.directory.path)/mitm/mitmproxy-ca-cert.pem" }

    /// `domains` are those of the profile `mitm`; without any it is in global mode.
    init(domains: [String] = []) throws {
        routes = try RouteLab()
        try routes.lab.addTablet()
        let files = "\(routes.lab.directory.path)/mitm"
        let port = Upstream.mitmproxy.port
        reader = try routes.lab.start(
            .internet, ["mitmdump", "--listen-port", "\(port)", "--set", "confdir=\(files)"])
        var settings = routes.settings(
            more: """
                clock: "trust", gateway: "lab-1",
                page: { viewers: ["10.9.0.0/24"] }, adhoc: { from: ["10.9.0.0/24"] },
                health: { url: "http://198.51.100.10/", body: "peer *", interval: "5s", timeout: "1s" },
                """)
        settings.isProbed = true
        settings.profiles = """
            { id: "mitm", name: "Reader", selfService: true, domains: \(domains),
              upstream: { type: "http", host: "10.77.0.2", port: \(port), kind: "mitmproxy" } },
            { id: "dead", name: "Nobody there", selfService: true,
              upstream: { type: "http", host: "10.77.0.2", port: 9 } }
            """
        try routes.lab.waitForPort(port, of: "0.0.0.0", in: .internet)
        daemon = try routes.start(settings)
    }

    func control(_ arguments: String...) throws -> String {
        try lab.run(.gateway, ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab)] + arguments).output
    }

    /// Which device has which profile of its own, and until when; its addresses come and go.
    func assignments() throws -> [[Substring]] {
        try control("devices").split(separator: "\n").map { Array($0.split(separator: " ").prefix(5)) }
            .filter { $0.contains("assignment") }
    }

    /// What a device's browser showed, each kind in its order.
    struct Walk {
        struct Page {
            let status: Int
            let url: String
            let title: String
        }

        var pages: [Page] = []
        var texts: [String] = []
        var looks: [[String: Any]] = []
        /// What each run of axe-core has found.
        var faults: [[String]] = []
        /// What was asked and answered, such as `GET http://10.9.0.1/ 200`.
        var answers: [[String]] = []
        var frames: [[String]] = []
        var sources: [[String: String]] = []
        var posts: [Int] = []

        mutating func add(_ value: Any, of command: Substring) {
            switch command.prefix(while: { $0 != " " }) {
            case "open", "press":
                let page = value as? [String: Any] ?? [:]
                pages.append(
                    Page(
                        status: page["status"] as? Int ?? 0, url: page["url"] as? String ?? "",
                        title: page["title"] as? String ?? ""))
            case "text": texts.append(value as? String ?? "")
            case "look": looks.append(value as? [String: Any] ?? [:])
            case "axe": faults.append(value as? [String] ?? ["axe gave nothing"])
            case "answers": answers.append(value as? [String] ?? [])
            case "frames": frames.append(value as? [String] ?? [])
            case "source": sources.append(value as? [String: String] ?? [:])
            case "post": posts.append(value as? Int ?? 0)
            default: break
            }
        }
    }

    /// Has a device's browser do commands of `page.py`, one a line.
    func browse(on place: Lab.Place = .device, _ commands: String) throws -> Walk {
        var names = try ["web", "news", "shop", "stream"].map {
            "\($0).example=\(try routes.address(of: "\($0).example"))"
        }
        names.append("starship.internal=\(try routes.address(of: "starship.internal"))")
        names.append("rebound.example=10.9.0.1")
        let profile = "\(lab.directory.path)/browser-\(place.rawValue)"
        let output = try lab.program(place, ["page.py", profile] + names, input: commands)
        let lines = output.split(separator: "\n")
        let asked = commands.split(separator: "\n")
        guard lines.count == asked.count else { throw LabError("\(lines.count) answers for \(asked.count) commands") }
        var walk = Walk()
        for (command, line) in zip(asked, lines) {
            walk.add(try JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed), of: command)
        }
        return walk
    }

    /// Whether mitmproxy has said that it was asked for a page of this host.
    func readerWasAsked(_ host: String) -> Bool { reader.output.contains("GET http://\(host)/") }

    /// A talk of the other device that goes on until somebody ends it.
    func talk() throws -> LabProgram {
        let program = try lab.start(
            .tablet, Lab.python(["routes.py", "talk", try routes.address(of: "socket.example"), "60"]))
        try program.waitFor("peer")
        return program
    }
}

extension LabTests {
    @Suite("the page in a browser", .enabled(if: PageLab.isPossible))
    struct PageBrowserTests {
        /// How a phone looks at it.
        struct Manner: CustomStringConvertible, Sendable {
            var colours: String
            var script: String
            var address: String

            var description: String { "\(colours), \(script), \(address)" }
        }

        static let manners = [
            Manner(colours: "light", script: "script", address: "http://starship.internal"),
            Manner(colours: "dark", script: "no-script", address: "http://10.9.0.1"),
        ]

        @Test(
            "a first visit, a switch by a button and one by a scanned code, for one device alone",
            arguments: manners)
        func switches(_ manner: Manner) throws {
            let lab = try PageLab()
            let talk = try lab.talk()
            let walk = try lab.browse(
                """
                \(manner.colours)
                \(manner.script)
                open \(manner.address)/
                look
                text
                answers
                type name pixel-7
                press Name this phone
                text
                open http://news.example/
                text
                open \(manner.address)/
                press Switch this phone to Reader
                text
                open http://shop.example/
                text
                open \(PageLab.page)/a?v=1&profile=dead
                text
                press Switch this phone to Nobody there
                open http://web.example/
                open \(manner.address)/
                look
                """)
            let statuses = walk.pages.map(\.status)
            #expect(statuses == [200, 200, 200, 200, 200, 200, 200, 200, 0, 200], "\(walk)")
            try #require(walk.texts.count == 6)
            expectPhone(walk.looks[0], isDark: manner.colours == "dark")
            #expect(walk.answers[0].contains { $0.hasSuffix("/page.js 200") } == (manner.script == "script"))

            let first = walk.texts[0]
            for part in [
                "Works: Lab", "10.77.0.2:8888", "What is written on this phone?", "Wi-Fi Assist", "Private DNS",
                "sees the names of hosts", "http://10.9.0.1/",
            ] { #expect(first.contains(part), "\(part): \(first)") }
            #expect(walk.pages[1].title.hasPrefix("pixel-7 "))
            #expect(walk.texts[1].contains("This phone: pixel-7"))

            #expect(walk.texts[2].hasPrefix(RouteLab.proxied))
            #expect(walk.texts[3].contains("Profile\nReader") && walk.texts[3].contains("this phone, "))
            #expect(walk.texts[4].hasPrefix(RouteLab.proxied))
            #expect(lab.routes.proxyWasAsked("news.example:80") && !lab.routes.proxyWasAsked("shop.example:80"))
            #expect(Lab.wait(3) { lab.readerWasAsked("shop.example") }, "\(lab.reader.output)")
            #expect(!lab.readerWasAsked("news.example"))

            let asking = walk.texts[5]
            #expect(asking.contains("Phone\npixel-7, and no other") && asking.contains("Now\nReader"), "\(asking)")
            #expect(asking.contains("Then\nNobody there") && asking.contains("Proxy\n10.77.0.2:9"), "\(asking)")
            #expect(!lab.routes.proxyWasAsked("web.example:80") && !lab.readerWasAsked("web.example"))
            let history = try lab.control("history")
            #expect(history.contains("pixel-7 uses mitm") && history.contains("pixel-7 uses dead"), "\(history)")
            try expectUntouched(talk, lab)
        }

        /// What is true of every page on a phone: it fits, its buttons can be hit, and it has the phone's colours.
        private func expectPhone(
            _ look: [String: Any], isDark: Bool, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(look["width"] as? Int == 390 && look["content"] as? Int == 390, sourceLocation: sourceLocation)
            #expect(look["low"] as? [String] == [], sourceLocation: sourceLocation)
            let back = (look["back"] as? String ?? "").split { !$0.isNumber }.compactMap { Int($0) }
            #expect(back.count == 3 && back.allSatisfy { isDark ? $0 < 64 : $0 > 192 }, sourceLocation: sourceLocation)
        }

        /// The other device's connection has gone on, and its next one goes where it went before.
        private func expectUntouched(_ talk: LabProgram, _ lab: PageLab) throws {
            let words = talk.output.split(separator: "\n").count
            #expect(Lab.wait(3) { talk.output.split(separator: "\n").count > words + 5 })
            #expect(talk.isRunning && !talk.output.contains("broken"))
            #expect(lab.daemon.events("flow").allSatisfy { !$0.contains("client=10.9.0.3:") })
            #expect(try lab.browse(on: .tablet, "open http://web.example/\ntext").texts[0].hasPrefix(RouteLab.proxied))
            #expect(lab.routes.proxyWasAsked("web.example:80"))
        }

        @Test("a dead proxy is red on the page, with its cause and what to do, and the page answers all the same")
        func deadUpstream() throws {
            let lab = try PageLab()
            let walk = try lab.browse(
                """
                open \(PageLab.page)/
                press Switch this phone to Nobody there
                open http://web.example/
                open \(PageLab.page)/
                wait 6
                look
                text
                no-script
                press Try again for this phone
                wait 1
                open \(PageLab.page)/
                look
                text
                """)
            #expect(walk.pages.map(\.status) == [200, 200, 0, 200, 200, 200], "\(walk)")
            for (look, text) in zip(walk.looks, walk.texts) {
                #expect((look["state"] as? String ?? "").split(separator: " ").contains("red"), "\(look)")
                // The port is closed: the machine is there, and nothing listens.
                #expect(text.contains("Does not work: Nobody there") && text.contains("nothing listens at that port"))
                #expect(text.contains("Start it there") && text.contains("No good request yet"), "\(text)")
            }
            #expect(walk.pages[4].url.hasSuffix("/?done=tried"))
        }

        @Test("what another site makes the phone's browser send changes nothing, even with a token that is good")
        func hostileSite() throws {
            let lab = try PageLab()
            _ = try lab.browse("open \(PageLab.page)/\npress Switch this phone to Reader")
            let page = try lab.lab.run(.device, ["curl", "-sS", "\(PageLab.page)/"]).output
            let form = try #require(page.firstRange(of: "action=\"/switch\""))
            let token = try #require(page[form.upperBound...].firstRange(of: "name=\"token\" value=\""))
            let fields =
                "token=\(page[token.upperBound...].prefix { $0 != "\"" })&profile=dead&name=evil&host=web.example"
                + "&link=v%3D1%26profile%3Ddead&domain=web.example&server=10.77.0.2%3A8888&port=8888"
            let site = try lab.lab.start(
                .origin, Lab.python(["page.py", "hostile", "198.51.100.13", PageLab.page, fields]))
            try site.waitFor("ready")
            let before = try (lab.control("history"), lab.assignments())
            #expect(before.1.count == 1 && before.1[0].contains("mitm"))
            let walk = try lab.browse(
                """
                open http://stream.example/
                wait 1
                answers
                frames
                wait 1
                open http://stream.example/form
                wait 0.5
                answers
                open http://rebound.example/
                post http://rebound.example/switch \(fields)
                answers
                open \(PageLab.page)/requests
                text
                """)
            // It has come to us, and was refused there.
            let posts = walk.answers[0].filter { $0.hasPrefix("POST \(PageLab.page)/") }
            #expect(posts.count >= 14 && posts.allSatisfy { $0.hasSuffix(" 403") || $0.hasSuffix(" 415") }, "\(posts)")
            #expect(walk.answers[0].count { $0.hasPrefix("GET \(PageLab.page)/") } >= 14, "\(walk.answers[0])")
            #expect(Set(walk.frames[0]) == ["\(PageLab.page)/", "\(PageLab.page)/switch"])
            #expect(walk.answers[1].contains("POST \(PageLab.page)/switch 403"), "\(walk.answers[1])")
            #expect(walk.posts == [421] && walk.pages.map(\.status) == [200, 200, 421, 200], "\(walk.pages)")
            #expect(!walk.texts[0].contains("Set for this phone"))
            let after = try (lab.control("history"), lab.assignments())
            #expect(after == before)
            // The same form from a page of ours is taken, so the token was good.
            let own = try lab.browse("open \(PageLab.page)/\npost \(PageLab.page)/switch \(fields)")
            #expect(own.posts == [200])
            #expect(try lab.assignments()[0].contains("dead"))
        }

        /// How mitmproxy is reached when its certificate is asked for.
        struct Reach: CustomStringConvertible, Sendable {
            var domains: [String]
            var hasInternet: Bool

            var description: String { "domains: \(domains), Internet: \(hasInternet)" }
        }

        @Test(
            "mitmproxy's certificate is shown as openssl shows it, and handed out in a type that phones install",
            arguments: [Reach(domains: [], hasInternet: true), Reach(domains: ["web.example"], hasInternet: false)])
        func certificate(_ reach: Reach) throws {
            let lab = try PageLab(domains: reach.domains)
            if !reach.hasInternet { try lab.lab.run(.internet, ["ip", "link", "set", "far", "down"]) }
            func openssl(_ options: String...) throws -> String {
                let command = ["openssl", "x509", "-in", lab.authority, "-noout"] + options
                return try lab.lab.run(.internet, command).output.trimmingCharacters(in: .newlines)
            }
            let der = try lab.lab.run(
                .internet, ["sh", "-c", "openssl x509 -in \(lab.authority) -outform der | base64 -w0"])
            let walk = try lab.browse(
                """
                open \(PageLab.page)/
                press Switch this phone to Reader
                press Certificate
                wait 2
                open \(PageLab.page)/ca
                text
                source \(PageLab.page)/ca.crt
                open \(PageLab.page)/
                press Put this phone back to the default
                text
                """)
            let digits = try openssl("-fingerprint", "-sha256").split(separator: "=").last.map(String.init) ?? ""
            #expect(digits.count == 95)
            #expect(try openssl("-subject", "-nameopt", "multiline").contains("= mitmproxy"))
            let text = walk.texts[0]
            #expect(text.contains("Issued to\nmitmproxy\n") && text.contains("SHA-256\n\(digits)\n"), "\(text)")
            #expect(walk.sources[0]["type"] == "application/x-x509-ca-cert")
            #expect(walk.sources[0]["base64"] == der.output && !der.output.isEmpty)
            #expect(walk.texts[1].contains("Remove the certificate of mitmproxy"), "\(walk.texts[1])")
        }

        @Test(
            "axe-core finds nothing wrong with any page, in light and in dark",
            .enabled(if: PageLab.axe != nil || Lab.isRequired, "scripts/test could not get axe-core from PyPI"))
        func accessible() throws {
            let lab = try PageLab()
            let axe = try #require(PageLab.axe)
            let site = try lab.lab.start(
                .origin, Lab.python(["page.py", "hostile", "198.51.100.13", PageLab.page, "name=evil"]))
            try site.waitFor("ready")
            let paths = [
                "", "a?v=1&profile=dead", "a?v=1&profile=nobody", "requests", "learn", "ca", "codes", "lab", "check",
                "adhoc", "l?port=8899", "nothing", "switch",
            ]
            var commands = ["open \(PageLab.page)/", "axe \(axe)", "press Switch this phone to Reader"]
            for colours in ["dark", "light"] {
                commands.append(colours)
                for path in paths { commands += ["open \(PageLab.page)/\(path)", "axe \(axe)", "look", "wait 0.1"] }
            }
            for (path, field, label) in [
                ("", "name", "Name this phone"), ("adhoc", "server", "Switch this phone to this proxy"),
            ] {
                commands += [
                    "open \(PageLab.page)/\(path)", "type \(field) <b>!", "press \(label)", "axe \(axe)", "text",
                ]
            }
            // It does find something where there is something.
            commands += ["open http://stream.example/", "axe \(axe)"]
            let walk = try lab.browse(commands.joined(separator: "\n"))
            #expect(walk.faults.dropLast().flatMap { $0 } == [])
            #expect(walk.faults.count == 2 * paths.count + 4)
            #expect(walk.faults.last?.contains { $0.hasPrefix("image-alt: ") } == true)
            for (index, look) in walk.looks.enumerated() { expectPhone(look, isDark: index < paths.count) }
            let refusals = walk.pages.suffix(2 * 2 + 1).filter { $0.status == 422 }
            #expect(refusals.count == 2 && walk.texts.allSatisfy { $0.contains("Not taken: ") }, "\(walk.pages)")
        }

        @Test("a device that asks more than 20 times a second is told so, and no other device is")
        func flood() throws {
            let lab = try PageLab()
            let text = try lab.lab.program(.device, ["page.py", "flood", "\(PageLab.page)/style.css", "200"])
            let curl = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "\(PageLab.page)/"]
            #expect(try lab.lab.run(.tablet, curl).output == "200")
            let found = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Double])
            let seconds = try #require(found["seconds"])
            let good = try #require(found["200"])
            // 40 at once after a quiet time, and 20 a second.
            #expect(good >= 40 && good <= 41 + 20 * seconds, "\(found)")
            let refused = try #require(found["429"])
            #expect(refused > 0 && found["Retry-After 1"] == refused, "\(found)")
        }
    }
}
