/// What is done for phones, as a device sees it; and two LAN interfaces whose devices have a profile each.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("phones", .enabled(if: RouteLab.isPossible && Lab.has("curl")))
    struct PhoneTests {
        static let lists = Lab.sources.appending(path: "Configs/phones").path
        static let answering = "phones: { connectivity: \"answer\", lists: \"\(lists)\" },"

        /// What curl says of a page: its status and its body.
        private func page(_ routes: RouteLab, _ url: String, _ options: String...) throws -> String {
            let name = String(url.split(separator: "/")[1])
            let address = try routes.address(of: name)
            let places = ["80", "443"].flatMap { ["--resolve", "\(name):\($0):\(address)"] }
            let curl = ["curl", "-sS", "--max-time", "5", "-w", " %{http_code}"] + places
            let result = try routes.lab.run(.device, curl + options + [url])
            return result.status == 0 ? result.output : "failed \(result.status)"
        }

        @Test(
            "`connectivity: answer`: without uplink and resolvers a device gets what its checks expect",
            arguments: [[], ["web.example"]])
        func answers(domains: [String]) throws {
            let routes = try RouteLab()
            try routes.lab.run(.gateway, ["ip", "link", "delete", "wan"])
            var settings = routes.settings(more: Self.answering)
            settings.profile = "domains: \(domains)"
            let daemon = try routes.start(settings)
            #expect(try page(routes, "http://connectivitycheck.gstatic.com/generate_204") == " 204")
            #expect(
                try page(routes, "http://captive.apple.com/hotspot-detect.html")
                    == "<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML> 200")
            #expect(try page(routes, "http://www.msftconnecttest.com/connecttest.txt") == "Microsoft Connect Test 200")
            #expect(try page(routes, "http://www.google.com/gen_204") == " 204")
            #expect(try page(routes, "http://play.googleapis.com/else").hasSuffix(" 404"))
            #expect(try page(routes, "http://captive.apple.com/", "-I").contains("Content-Length: 68\r\n"))
            // Two requests on one connection.
            let twice = "http://connectivitycheck.gstatic.com/"
            #expect(try page(routes, twice, "-w", "%{num_connects} ", twice) == "1 0 ")
            #expect(try routes.address(of: "dns.msftncsi.com") == "131.107.255.255")
            #expect(try routes.address(of: "captive.apple.com", "AAAA") == "")
            let start = Stopwatch()
            // CURLE_COULDNT_CONNECT
            #expect(try page(routes, "https://connectivitycheck.gstatic.com/generate_204") == "failed 7")
            #expect(start.seconds < 2)
            let snapshot = try daemon.snapshot()
            #expect(snapshot["counters.checks_answered"] == 8, "\(daemon.program.errors)")
            #expect(snapshot.description.contains("\"connectivity\":\"answer\""))
            #expect(daemon.flow(with: ["name=captive.apple.com", "phones: connectivity.answers"]))
        }

        @Test("`explain` says who answers a check")
        func explains() throws {
            let lab = try Lab()
            let file = lab.directory.appending(path: "explain.json5")
            let text = "{ \(Self.answering) dns: {}, profiles: [{ id: 'a', upstream: { type: 'direct' } }] }"
            try text.write(to: file, atomically: true, encoding: .utf8)
            func explain(_ flow: String) throws -> String {
                try lab.run(.gateway, ["\(Lab.binaries)/starshipd", "explain", flow, "--config", file.path]).output
            }
            let check = try explain("captive.apple.com:80")
            #expect(check.contains("rule      phones: connectivity.answers, \(Self.lists)/connectivity.answers:13\n"))
            #expect(check.contains("outbound  the gateway's own answer: 200 for every path\n"), "\(check)")
            #expect(try explain("captive.apple.com:443").contains("outbound  refused: RST, as only http is answered\n"))
        }

        @Test("B094: names of Private Relay come from their list, or from the program without one, and a rule wins")
        func privateRelay() throws {
            let lab = try Lab()
            let file = lab.directory.appending(path: "explain.json5")
            func explain(_ phones: String, _ profile: String = "") throws -> String {
                let text = "{ \(phones) dns: {}, profiles: [{ id: 'a', upstream: { type: 'direct' }, \(profile) }] }"
                try text.write(to: file, atomically: true, encoding: .utf8)
                let command = ["\(Lab.binaries)/starshipd", "explain", "mask-h2.icloud.com:443", "--config", file.path]
                return try lab.run(.gateway, command).output
            }
            let none = "no such name: phones: private-relay\n"
            let listed = "phones: { lists: \"\(Self.lists)\" },"
            for phones in ["", listed] {
                let found = try explain(phones)
                #expect(found.contains("dns       \(none)") && found.contains("outbound  refused: RST\n"), "\(found)")
                #expect(try explain(phones, "rules: ['MATCH,PROXY']").contains(none))
                #expect(try explain(phones, "domains: ['icloud.com']").contains(": it is proxied\n"))
                #expect(try explain(phones, "rules: ['DOMAIN-SUFFIX,icloud.com,DIRECT']").contains(": it is direct\n"))
            }
            #expect(try !explain("phones: { privateRelay: true },").contains("no such name"))
        }

        @Test("wrong answers are refused with file and line, and missing ones by name")
        func wrongAnswers() throws {
            let lab = try Lab()
            let lists = lab.directory.appending(path: "lists")
            try FileManager.default.copyItem(at: URL(filePath: Self.lists), to: lists)
            let file = lab.directory.appending(path: "answers.json5")
            func start(_ phones: String) throws -> LabProgram.Result {
                let text = "{ phones: { \(phones) }, profiles: [{ id: 'a', upstream: { type: 'direct' } }] }"
                try text.write(to: file, atomically: true, encoding: .utf8)
                let command = ["\(Lab.binaries)/starshipd", "explain", "a.example", "--config", file.path]
                return try lab.run(.gateway, command)
            }
            let path = lists.appending(path: "connectivity.answers")
            try "# a comment\ncaptive.apple.com * 302 x\n".write(to: path, atomically: true, encoding: .utf8)
            let wrong = try start("connectivity: 'answer', lists: '\(lists.path)'")
            #expect(wrong.status == 78 && wrong.errors.contains("\(path.path):2: found \"302\""), "\(wrong)")
            let missing = try start("connectivity: 'answer'")
            #expect(missing.status == 82 && missing.errors.contains("wants the lists for phones"), "\(missing)")
        }

        @Test("Android's HTTPS probe goes through the proxy while that works, and direct while it is lost")
        func probe() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings(more: "phones: { lists: \"\(Self.lists)\" },"))
            func hello() throws -> String {
                let address = try routes.address(of: "www.google.com")
                #expect(address.hasPrefix("198.18."))
                return try routes.device("routes.py", "hello", address, "443", "www.google.com")
            }
            let proxied = try hello()
            #expect(proxied.hasPrefix("\(RouteLab.proxied) "), "\(proxied) \(daemon.program.errors)")
            #expect(routes.proxyWasAsked("www.google.com:443"))
            routes.proxy.end(.kill)
            for _ in 0..<2 {
                let refused = try hello()
                #expect(refused.hasPrefix("failed ConnectionRefusedError"), "\(refused)")
            }
            let direct = try hello()
            #expect(direct.hasPrefix("\(RouteLab.direct) "), "\(direct) \(daemon.program.errors)")
            #expect(daemon.flow(with: ["name=www.google.com", "connectivity-shared, the upstream is lost"]))
        }

        @Test("two LAN interfaces: the devices of each go through the proxy of its profile")
        func interfaces() throws {
            let routes = try RouteLab()
            // A second device, on an interface of its own; its network goes with the process.
            let second = try routes.lab.start(.device, ["unshare", "--net", "sh", "-c", "echo apart; exec sleep 600"])
            try second.waitFor("apart")
            let commands = """
                ip link add lan2 type veth peer name second && ip link set second netns \(second.pid)
                ip address add 10.10.0.1/24 dev lan2 && ip link set lan2 up
                nsenter --target \(second.pid) --net sh -ec 'ip address add 10.10.0.2/24 dev second
                    ip link set lo up; ip link set second up; ip route add default via 10.10.0.1'
                """
            let made = try routes.lab.run(.gateway, ["sh", "-ec", commands])
            #expect(made.status == 0, "\(made.errors)")
            let other = try routes.lab.start(.internet, Lab.python(["routes.py", "proxy", "10.77.0.2", "8899"]))
            try other.waitFor("ready")

            var settings = routes.settings()
            settings.network = "setup: \"gateway\", lan: [\"lan\", { interface: \"lan2\", profile: \"other\" }]"
            settings.profile = "}, { id: \"other\", upstream: \(Daemon.Settings.http(8899))"
            let daemon = try routes.start(settings)
            #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example", "\(daemon.program.errors)")
            #expect(routes.proxyWasAsked("web.example:80") && !other.output.contains("web.example"))

            let inside = ["nsenter", "--target", "\(second.pid)", "--net"]
            let dig = ["dig", "+short", "+time=2", "+tries=1", "@10.10.0.1", "news.example", "A"]
            let address = try routes.lab.run(.device, inside + dig).output.split(separator: "\n").last ?? ""
            #expect(address.hasPrefix("198.18."), "\(daemon.program.errors)")
            let curl = ["curl", "-sS", "--max-time", "5", "--resolve", "news.example:80:\(address)"]
            let result = try routes.lab.run(.device, inside + curl + ["http://news.example/"])
            #expect(result.status != 0, "this proxy refuses everything")
            #expect(other.output.contains("CONNECT news.example:80 HTTP/1.1"), "\(daemon.program.errors)")
            #expect(!routes.proxy.output.contains("news.example"))
            #expect(daemon.flow(with: ["client=10.10.0.2", "profile=other"]))
        }
    }
}
