/// Proxies that people bring along by the page: a laptop shows a code for one phone, or a phone says where its proxy
/// is.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("own proxies on the page", .enabled(if: PageLab.isPossible && Lab.has("zbarimg")))
    struct PageOwnProxyTests {
        /// Where the laptop's proxy listens: no port that another proxy of the lab has.
        private static let port = 8899
        /// A port of the laptop at which nobody listens.
        private static let closed = 8898

        /// A lab with a laptop on which tinyproxy runs.
        private struct Desk {
            let lab: PageLab
            let proxy: LabProgram

            init() throws {
                lab = try PageLab(hasLaptop: true) { settings, _ in
                    settings.more += "devices: [{ name: \"mac-7\", mac: \"02:00:00:00:00:04\" }],"
                }
                let file = lab.lab.directory.appending(path: "laptop.conf")
                try "Port \(port)\nTimeout 600\nMaxClients 50\nAllow 10.9.0.0/24\n"
                    .write(to: file, atomically: true, encoding: .utf8)
                proxy = try lab.lab.start(.laptop, ["tinyproxy", "-d", "-c", file.path])
                try lab.lab.waitForPort(port, of: "0.0.0.0", in: .laptop)
            }

            /// Has the laptop offer its proxy, and returns what a phone reads off its screen.
            func offer(_ manner: PageLab.Manner) throws -> String {
                let photo = "\(lab.lab.directory.path)/laptop.png"
                let walk = try lab.browse(
                    on: .laptop,
                    """
                    \(manner.commands)
                    open \(manner.address)/l?port=\(port)
                    text
                    \(PageLab.survey)
                    press Try the proxy of this laptop and show a code
                    \(PageLab.survey)
                    \(manner.until) Scan this with one phone
                    text
                    photo \(photo)
                    \(PageLab.survey)
                    """)
                #expect(walk.statuses == [200, 200], "\(walk.pages)")
                walk.expectGood(isDark: manner.isDark)
                #expect(walk.texts[0].contains("Offer the proxy of this laptop, 10.9.0.4"), "\(walk.texts[0])")
                #expect(walk.texts[1].contains("10.9.0.4:\(port)"), "\(walk.texts[1])")
                let scanned = try lab.lab.run(.laptop, ["zbarimg", "-q", "--nodbus", "--raw", photo])
                let link = scanned.output.trimmingCharacters(in: .newlines)
                try #require(link.hasPrefix("\(PageLab.page)/a?"), "\(scanned.output) \(scanned.errors)")
                // Who can't scan can type it.
                #expect(walk.texts[1].contains(link), "\(walk.texts[1])")
                return link
            }

            /// Whether the laptop's proxy was asked for a target, in its own words.
            func wasAsked(_ target: String) -> Bool { proxy.output.contains(": CONNECT \(target) HTTP/") }

            /// Gives the laptop another address, and its routes anew.
            func move(to address: String) throws {
                let commands = """
                    ip address del 10.9.0.4/24 dev eth0
                    ip address add \(address)/24 dev eth0
                    ip route replace default via 10.9.0.1
                    """
                #expect(try lab.lab.run(.laptop, ["sh", "-ec", commands]).status == 0)
            }
        }

        @Test(
            "a laptop's code gives one phone its proxy, leased, and the phone follows the laptop to another address",
            arguments: PageLab.Manner.both)
        func laptop(_ manner: PageLab.Manner) throws {
            let desk = try Desk()
            let lab = desk.lab
            let talk = try lab.talk()
            let link = try desk.offer(manner)
            #expect(try lab.assignments().isEmpty, "a code alone changes nothing")

            let walk = try lab.browse(
                """
                \(manner.commands)
                open \(link)
                text
                \(PageLab.survey)
                press Switch this phone to own proxy of mac-7
                text
                \(PageLab.survey)
                open http://web.example/
                text
                """)
            #expect(walk.statuses == [200, 200, 200], "\(walk.pages)")
            walk.expectGood(isDark: manner.isDark)
            for part in ["and no other", "own proxy of mac-7", "10.9.0.4:\(Self.port)", "60 min"] {
                #expect(walk.texts[0].contains(part), "\(part): \(walk.texts[0])")
            }
            #expect(walk.texts[1].contains("Profile\nown proxy of mac-7") && walk.texts[1].contains("this phone, "))
            #expect(walk.texts[2].hasPrefix("peer "))
            #expect(desk.wasAsked("web.example:80"), "\(desk.proxy.output)")
            #expect(!lab.routes.proxyWasAsked("web.example:80"))

            try expectLeased(lab)
            try expectTaken(link, lab)
            try lab.expectUntouched(talk)
            try expectFollowed(desk, manner)
        }

        /// The phone has what it was given for an hour, the gateway and the others have what they had, and who has done
        /// it is known.
        private func expectLeased(_ lab: PageLab) throws {
            let own = try lab.assignments()
            #expect(own.count == 1 && own[0].contains { $0.hasPrefix("own-") }, "\(own)")
            let devices = try lab.control("devices", "--json")
            let until = try #require(try Self.end(in: devices), "\(devices)")
            let left = until - Int(Date().timeIntervalSince1970)
            #expect((3400...3600).contains(left), "an hour, and it has just begun: \(left)")
            let history = try lab.history()
            #expect(history.count == 1 && history[0].hasPrefix("device "), "\(history)")
            #expect(history[0].contains("own proxy of mac-7") && history[0].contains("10.9.0.4:\(Self.port)"))
            #expect(try lab.control("status").contains("Lab"))
        }

        /// The end of the one assignment that there is.
        private static func end(in devices: String) throws -> Int? {
            let object = try JSONSerialization.jsonObject(with: Data(devices.utf8)) as? [String: Any]
            return (object?["devices"] as? [[String: Any]] ?? []).compactMap { $0["until"] as? Int }.first
        }

        /// The same code is good for nobody else.
        private func expectTaken(_ link: String, _ lab: PageLab) throws {
            let before = try (lab.history(), lab.assignments())
            let walk = try lab.browse(on: .tablet, "open \(link)\ntext\n\(PageLab.survey)")
            #expect(walk.statuses == [422] && walk.texts[0].contains("has taken"), "\(walk.texts)")
            walk.expectGood(isDark: false)
            #expect(try (lab.history(), lab.assignments()) == before)
        }

        /// The laptop has another address and opens its page again: the phone's next request goes there.
        private func expectFollowed(_ desk: Desk, _ manner: PageLab.Manner) throws {
            try desk.move(to: "10.9.0.44")
            let walk = try desk.lab.browse(
                on: .laptop, "\(manner.commands)\nopen \(PageLab.page)/l\ntext\n\(PageLab.survey)")
            #expect(walk.statuses == [200] && walk.texts[0].contains("Offer the proxy of this laptop, 10.9.0.44"))
            #expect(walk.texts[0].contains("Phones with a proxy of this laptop: "), "\(walk.texts[0])")
            walk.expectGood(isDark: manner.isDark)
            let shown = try desk.lab.browse("open http://shop.example/\ntext\nopen \(PageLab.page)/\ntext").texts
            #expect(shown[0].hasPrefix("peer ") && shown[1].contains("10.9.0.44:\(Self.port)"), "\(shown)")
            #expect(desk.wasAsked("shop.example:80") && !desk.lab.routes.proxyWasAsked("shop.example:80"))
            let history = try desk.lab.history()
            #expect(history[0].contains("mac-7 is at 10.9.0.44 now"), "\(history)")
        }

        @Test(
            "a phone enters a proxy and domains: those alone go there, for it alone and for a while",
            arguments: PageLab.Manner.both)
        func phone(_ manner: PageLab.Manner) throws {
            let desk = try Desk()
            let lab = desk.lab
            let talk = try lab.talk()
            let walk = try lab.browse(
                """
                \(manner.commands)
                open \(manner.address)/
                press My own proxy
                \(PageLab.survey)
                type server 10.9.0.4:\(Self.port)
                type domains shop.example, full:web.example
                press Switch this phone to this proxy
                text
                open http://shop.example/
                text
                open http://news.example/
                text
                open \(manner.address)/
                \(manner.until) Works: own proxy
                text
                \(PageLab.survey)
                """)
            #expect(walk.statuses == [200, 200, 200, 200, 200, 200], "\(walk.pages)")
            walk.expectGood(isDark: manner.isDark)
            #expect(walk.texts[0].contains("Switched.") && walk.texts[0].contains("10.9.0.4:\(Self.port)"))
            #expect(walk.texts[1].hasPrefix("peer ") && walk.texts[2].hasPrefix("peer "), "\(walk.texts)")
            #expect(desk.wasAsked("shop.example:80") && !desk.wasAsked("news.example:80"), "\(desk.proxy.output)")
            #expect(
                !lab.routes.proxyWasAsked("shop.example:80") && !lab.routes.proxyWasAsked("news.example:80"),
                "\(lab.daemon.program.errors)")
            let home = walk.texts[3]
            #expect(home.contains("shop.example") && home.contains("this phone, "), "\(home)")
            let history = try lab.history()
            #expect(history.count == 1 && history[0].contains(" uses own-"), "\(history)")
            #expect(history[0].contains("10.9.0.4:\(Self.port)"), "\(history)")
            let own = try lab.assignments()
            #expect(own.count == 1 && own[0].contains { $0.hasPrefix("own-") }, "\(own)")
            try lab.expectUntouched(talk)
        }

        /// What a phone types, and what is said about it.
        struct Refusal: Sendable {
            var server = "10.9.0.4:\(port)"
            var domains = "web.example"
            var words: [String]
        }

        @Test("what can't be is refused beside its field, which keeps what was typed, and changes nothing")
        func refusals() throws {
            let desk = try Desk()
            let lab = desk.lab
            let refusals = [
                Refusal(server: "10.77.0.2:8888", words: ["10.77.0.2", "an address in 10.9.0.0/24"]),
                Refusal(server: "10.9.0.4:8898", words: ["Not taken: nobody listens at the port of 10.9.0.4:8898"]),
                Refusal(server: "10.9.0.99:8899", words: ["Not taken: 10.9.0.99:8899 does not answer"]),
                Refusal(server: "10.9.0.4:80", words: ["the port 80", "a port in 1024-65535"]),
                Refusal(server: "10.9.0.1:8899", words: ["this gateway itself"]),
                Refusal(server: "<b>silly!", words: ["<b>silly!", "such as 10.20.3.77:8899"]),
                Refusal(domains: "http://shop.example/", words: ["http://shop.example/"]),
            ]
            for manner in PageLab.Manner.both {
                let before = try (lab.history(), lab.assignments())
                var commands = [manner.commands]
                for refusal in refusals {
                    commands += [
                        "open \(manner.address)/adhoc", "type server \(refusal.server)",
                        "type domains \(refusal.domains)", "press Switch this phone to this proxy", "field server",
                        "field domains", PageLab.survey,
                    ]
                }
                let walk = try lab.browse(commands.joined(separator: "\n"))
                walk.expectGood(isDark: manner.isDark)
                #expect(walk.statuses == refusals.flatMap { _ in [200, 422] }, "\(walk.pages)")
                for (number, refusal) in refusals.enumerated() {
                    let (server, domains) = (walk.fields[2 * number], walk.fields[2 * number + 1])
                    #expect(server.value == refusal.server && domains.value == refusal.domains)
                    let isAboutDomains = refusal.server == Refusal(words: []).server
                    let (wrong, right) = isAboutDomains ? (domains, server) : (server, domains)
                    #expect(wrong.isInvalid && !right.isInvalid, "\(refusal)")
                    #expect(wrong.words.contains("Not taken: ") && !right.words.contains("Not taken: "))
                    for part in refusal.words { #expect(wrong.words.contains(part), "\(part): \(wrong.words)") }
                }
                #expect(try (lab.history(), lab.assignments()) == before, "\(manner)")
            }
        }

        @Test(
            "a laptop's port that is none, out of bounds or closed gets no code, and says why beside the field",
            arguments: PageLab.Manner.both)
        func laptopRefusals(_ manner: PageLab.Manner) throws {
            let desk = try Desk()
            let press = "press Try the proxy of this laptop and show a code"
            let walk = try desk.lab.browse(
                on: .laptop,
                """
                \(manner.commands)
                open \(manner.address)/l
                type port eighty
                \(press)
                field port
                \(PageLab.survey)
                type port 80
                \(press)
                field port
                \(PageLab.survey)
                type port \(Self.closed)
                \(press)
                \(manner.until) can't be used yet
                field port
                text
                \(PageLab.survey)
                """)
            #expect(walk.statuses == [200, 422, 422, 200], "\(walk.pages)")
            walk.expectGood(isDark: manner.isDark)
            #expect(walk.fields.map(\.value) == ["eighty", "80", "\(Self.closed)"])
            let words = walk.fields.map(\.words)
            #expect(words[0].contains("Not taken: ") && words[0].contains("found no port"), "\(words)")
            #expect(words[1].contains("the port 80") && words[1].contains("a port in 1024-65535"), "\(words)")
            #expect(words[2].contains("Not taken: ") && walk.fields.allSatisfy(\.isInvalid), "\(walk.fields)")
            #expect(walk.texts[0].contains("10.9.0.4:\(Self.closed)") && walk.texts[0].contains("firewall"))
            #expect(try desk.lab.history().isEmpty && desk.lab.assignments().isEmpty)
        }
    }
}
