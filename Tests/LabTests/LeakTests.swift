/// After any load, flow table, descriptors and buffers are back where they were.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("leaks and limits")
    struct LeakTests {
        private struct Load: Decodable {
            let results: [String: Int]
            let slowest: Double
            let alive: Int?
            /// The seconds that each refusal took.
            let refusals: [Double]?
        }

        /// A lab whose daemon goes through the embedded upstream to an echo server.
        private struct Setting {
            let lab: Lab
            let origins: Origins
            let proxy: LabProgram
            let daemon: Daemon

            init(_ change: (inout Daemon.Settings) -> Void = { _ in }) throws {
                lab = try Lab()
                origins = try Origins(lab, [.echo])
                proxy = try Upstream.embedded.start(in: lab)
                var settings = Daemon.Settings { $0.upstream = Daemon.Settings.http(Upstream.embedded.port) }
                change(&settings)
                daemon = try Daemon(lab, settings)
            }

            func load(_ verb: String, _ numbers: Int..., within seconds: Double = 120) throws -> Load {
                let program = try startLoad(verb, numbers)
                return try Self.read(program, within: seconds)
            }

            func startLoad(_ verb: String, _ numbers: [Int]) throws -> LabProgram {
                let arguments = ["load.py", verb, "198.51.100.14", "7000"] + numbers.map(String.init)
                return try lab.start(.device, Lab.python(arguments))
            }

            static func read(_ program: LabProgram, within seconds: Double) throws -> Load {
                let result = try program.wait(within: seconds)
                guard let line = result.output.split(separator: "\n").last else { throw LabError(result.errors) }
                return try JSONDecoder().decode(Load.self, from: Data(line.utf8))
            }

            /// Waits until nothing is left of a load, and says so.
            func expectEmpty(descriptors before: Int, source: SourceLocation = #_sourceLocation) throws {
                let after = try daemon.snapshot(within: 15) {
                    $0["flows"] == 0 && $0["buffer_bytes_used"] == 0
                }
                #expect(after["flows"] == 0, "\(after)", sourceLocation: source)
                #expect(after["buffer_bytes_used"] == 0, "\(after)", sourceLocation: source)
                _ = Lab.wait { daemon.descriptors <= before }
                #expect(daemon.descriptors <= before, sourceLocation: source)
            }
        }

        @Test("20,000 short connections leave nothing behind", arguments: [1, 3])
        func short(workers: Int) throws {
            let setting = try Setting { $0.workers = workers }
            _ = try setting.load("short", 100, 16)
            let before = setting.daemon.descriptors
            let load = try setting.load("short", 20_000, 32)
            #expect(load.results == ["good": 20_000], "\(load)")
            try setting.expectEmpty(descriptors: before)
        }

        @Test("2,000 connections reset at every point of their life leave nothing behind", arguments: [1, 3])
        func aborted(workers: Int) throws {
            let setting = try Setting { $0.workers = workers }
            let before = setting.daemon.descriptors
            let load = try setting.load("abort", 2000, 16, 53)
            #expect(load.results["aborted", default: 0] >= 1990, "\(load)")
            try setting.expectEmpty(descriptors: before)
            let after = try setting.load("short", 50, 4)
            #expect(after.results == ["good": 50], "\(after)")
        }

        /// The device's whole share of half-open flows is taken again and again, and it still gets through.
        @Test("while 20,000 SYNs never complete, and within a second after, ordinary connections are served")
        func synFlood() throws {
            let setting = try Setting { $0.limits = "synAck: [\"1s\", \"1s\"]" }
            let before = setting.daemon.descriptors
            let steady = try setting.startLoad("steady", [7])
            _ = Lab.wait(1) { false }
            let sources = (2..<102).map { "10.9.77.\($0)" }
            let flood = try setting.lab.startPackets([
                .inject(
                    .syn(port: 10000, to: "198.51.100.14", targetPort: 7000), times: 20_000, varyingPort: true,
                    sources: sources, rate: 5000)
            ])
            _ = try Exchange.of(flood)
            let after = try setting.load("short", 20, 4)
            #expect(after.results == ["good": 20] && after.slowest < 1, "\(after)")
            let load = try Setting.read(steady, within: 30)
            // A queue that the flood has filled may drop a SYN; its sender repeats it after 1 s, then 2 s (RFC 6298).
            #expect(Array(load.results.keys) == ["good"] && load.slowest < 3.5, "\(load)")
            _ = try setting.daemon.snapshot(within: 20) { $0["flows"] == 0 }
            try setting.expectEmpty(descriptors: before)
        }

        /// Half-open flows are bounded; above the bound a SYN costs no state (B232; DESIGN.md, decision 4).
        @Test("20,000 SYNs to silent targets stay within the bounds, and memory does too")
        func blackHole() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .pause(60)]])
            let daemon = try Daemon(lab, Daemon.Settings { $0.limits = "halfOpen: 600, halfOpenPerDevice: 100" })
            let sources = (2..<102).map { "10.9.77.\($0)" }
            let flood = try lab.packets([
                .inject(
                    .syn(port: 10000, to: "198.51.100.77"), times: 20_000, varyingPort: true, sources: sources,
                    rate: 5000)
            ])
            let counters = try daemon.snapshot()
            #expect(counters["flows"] <= 600, "\(counters)")
            #expect(counters["counters.cookies_sent"] > 0, "\(counters)")
            #expect(daemon.residentKiB < 262_144)
            #expect(daemon.descriptors < 700)
            withExtendedLifetime((proxy, flood)) {}
        }

        /// Above the flow cap a SYN is refused, and said so (B232).
        @Test("over the flow cap a connection is refused at once, and it recovers")
        func flowCap() throws {
            let setting = try Setting { $0.limits = "flows: 100" }
            let holding = try setting.startLoad("hold", [150, 2])
            try holding.waitFor("\"open\"", within: 20)
            let active = try setting.daemon.snapshot()
            #expect(active["flows"] <= 100, "\(active)")
            let load = try Setting.read(holding, within: 30)
            #expect(load.results["good"] == 100 && load.results["refused"] == 50, "\(load)")
            #expect(load.alive == 100, "\(load)")
            #expect(setting.daemon.program.errors.contains("level=warning"), "\(setting.daemon.program.errors)")
            let after = try setting.daemon.snapshot(within: 10) { $0["flows"] == 0 }
            #expect(after["flows"] == 0, "\(after)")
            let recovered = try setting.load("short", 50, 8)
            #expect(recovered.results == ["good": 50], "\(recovered)")
        }

        @Test("with 256 descriptors and 1,000 connections wanted, some work, the rest are refused, and it recovers")
        func descriptors() throws {
            let setting = try Setting { $0.wrapper = ["prlimit", "--nofile=256:256"] }
            _ = try setting.load("short", 50, 8)
            let before = setting.daemon.descriptors
            let watch = Stopwatch()
            let holding = try setting.startLoad("hold", [1000, 4])
            try holding.waitFor("\"open\"", within: 30)
            let cpuBefore = setting.daemon.cpuSeconds
            _ = Lab.wait(2) { false }
            #expect(setting.daemon.cpuSeconds - cpuBefore < 0.2, "no busy loop")
            let load = try Setting.read(holding, within: 60)
            let good = load.results["good", default: 0]
            #expect(good >= 150 && load.alive == good, "\(load)")
            #expect(load.results["refused", default: 0] + good == 1000, "\(load)")
            // At once is before a SYN is sent a second time, after a second (RFC 6298, section 2).
            let late = (load.refusals ?? []).filter { $0 >= 1 + watch.allowance }
            #expect(load.refusals?.count == load.results["refused"] && late == [], "\(late)")
            try setting.expectEmpty(descriptors: before)
            let recovered = try setting.load("short", 200, 8)
            #expect(recovered.results == ["good": 200], "\(recovered)")
        }
    }
}
