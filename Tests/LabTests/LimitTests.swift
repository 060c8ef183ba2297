/// Bounds of the DNS service as a device meets them, in the size that README names: each holds, is counted, and is said
/// once and not for each question.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("limits of the DNS service", .enabled(if: Lab.has("dig")))
    struct LimitTests {
        /// A gateway whose resolver never answers.
        private struct Setting {
            let lab: Lab
            let daemon: Daemon

            init() throws {
                lab = try Lab()
                let settings = Daemon.Settings {
                    $0.network = "setup: \"gateway\", lan: [\"lan\"]"
                    $0.profile = "domains: [\"web.example\"]"
                    $0.more = "dns: { resolvers: [\"198.51.100.77:53\"] },"
                }
                daemon = try Daemon(lab, settings, routed: false)
            }

            /// Starts a program that wants too much.
            func want(_ arguments: String...) throws -> LabProgram {
                try lab.start(.device, Lab.python(["limits.py"] + arguments))
            }
        }

        private struct Answers: Decodable {
            /// How many came within a second, by RCODE.
            let answers: [String: Int]
            let late: Int
        }

        private struct Ends: Decodable { let ends: [String] }

        @Test("of one device's questions 512 wait, all others get SERVFAIL at once")
        func questions() throws {
            let setting = try Setting()
            let program = try setting.want("questions", "10.9.0.1", "700")
            let isFull = try setting.daemon.snapshot(within: 20) { $0["counters.dns_overloaded"] > 0 }
            #expect(isFull["counters.dns_overloaded"] > 0, "\(isFull)")
            // Meanwhile names that are proxied have their addresses.
            let dig = ["dig", "+short", "+time=3", "+tries=1", "@10.9.0.1", "web.example", "A"]
            #expect(try setting.lab.run(.device, dig).output == "198.18.0.16\n")
            let output = try program.wait(within: 60).output
            let found = try JSONDecoder().decode(Answers.self, from: Data(output.utf8))
            #expect(found.answers == ["2": 188], "\(found)")
            let snapshot = try setting.daemon.snapshot()
            #expect(snapshot["counters.dns_overloaded"] == 188, "\(snapshot)")
            let told = setting.daemon.events("dns-question-limit")
            #expect(told.count == 1 && told[0].contains("level=warning device=10.9.0.2"), "\(told)")
        }

        @Test("256 connections: the quietest gives way, one with a question does not", arguments: [false, true])
        func connections(asks: Bool) throws {
            let setting = try Setting()
            let result = try setting.want("connections", "10.9.0.1", "266", asks ? "ask" : "").wait(within: 60)
            try #require(result.status == 0, "\(result.errors)")
            let ends = try JSONDecoder().decode(Ends.self, from: Data(result.output.utf8)).ends
            let snapshot = try setting.daemon.snapshot()
            if asks {
                #expect(ends.prefix(256).allSatisfy { $0 == "open" }, "\(ends)")
                #expect(ends.suffix(10).allSatisfy { $0 == "reset" }, "\(ends)")
                #expect(snapshot["counters.dns_streams_refused"] == 10, "\(snapshot)")
            } else {
                #expect(ends.prefix(10).allSatisfy { $0 == "closed" || $0 == "reset" }, "\(ends)")
                #expect(ends.suffix(256).allSatisfy { $0 == "open" }, "\(ends)")
                #expect(snapshot["counters.dns_streams_shed"] == 10, "\(snapshot)")
            }
            let told = setting.daemon.events("dns-connection-limit")
            #expect(told.count == 1 && told[0].contains("level=warning limit=256"), "\(told)")
        }
    }
}
