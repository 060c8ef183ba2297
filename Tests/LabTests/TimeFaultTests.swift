/// Time that does not go as it should: a clock that is set, and a process that stands still.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("time that jumps", .enabled(if: EnduranceLab.isPossible))
    struct TimeFaultTests {
        /// libfaketime, which moves the calendar of the programs that it is loaded into; the kernel's other clocks
        /// stay.
        private static let faketime: String? = {
            let base = "/usr/lib"
            let places = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
            return places.map { "\(base)/\($0)/faketime/libfaketimeMT.so.1" }
                .first { FileManager.default.fileExists(atPath: $0) }
        }()

        @Test(
            "the clock jumps an hour forth and back: leases last as long as they were given for",
            .enabled(if: faketime != nil))
        func clock() throws {
            let library = try #require(Self.faketime)
            let hands = URL(filePath: "/tmp/starship-clock-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: hands) }
            func set(_ offset: String) throws { try "\(offset)\n".write(to: hands, atomically: true, encoding: .utf8) }
            try set("+0")
            let wrapper = [
                "env", "LD_PRELOAD=\(library)", "FAKETIME_TIMESTAMP_FILE=\(hands.path)", "FAKETIME_NO_CACHE=1",
                // The library takes the arguments of the first program that it is loaded into.
                "FAKETIME_DONT_FAKE_MONOTONIC=1", "env",
            ]
            let endurance = try EnduranceLab { $0.wrapper = wrapper }
            endurance.wrapper = wrapper
            #expect(try endurance.becomes("green"))
            #expect(try endurance.control("use", "other", "--device", "10.9.0.2", "--for", "2h").status == 0)
            #expect(try endurance.control("use", "other", "--device", "10.9.0.77", "--for", "1m").status == 0)
            let given = Date()
            let cpu = endurance.daemon.cpuSeconds
            for (offset, moved) in [("+3600", "+3600s"), ("+0", "-3600s"), ("-3600", "-3600s")] {
                let known = endurance.daemon.events("clock").count
                try set(offset)
                #expect(
                    try Lab.wait(promised: 8) {
                        _ = try endurance.status()
                        return endurance.daemon.events("clock").count > known
                    })
                #expect(endurance.daemon.events("clock").last?.contains("moved=\(moved)") == true)
                #expect(try endurance.assigned() == 2, "nobody's lease has ended")
                #expect(try endurance.colour() == "green")
                #expect(try endurance.pageComes())
                let uptime = try endurance.status()["uptime"] as? Int ?? -1
                #expect((0...120).contains(uptime), "\(uptime)")
            }
            // The one minute is over when it has passed, although the calendar is an hour behind.
            #expect(try Lab.wait(90) { try endurance.assigned() == 1 })
            #expect(Date().timeIntervalSince(given) > 55)
            #expect(endurance.daemon.cpuSeconds - cpu < 3, "nothing is tried again and again")
            #expect(endurance.daemon.events("lease-ends").isEmpty)
            #expect(endurance.daemon.events("clock").count == 3)
        }

        @Test("30 s stopped and let go on: it says so, flows live on, waiting devices are served, and nothing storms")
        func stopped() throws {
            let endurance = try EnduranceLab(domains: nil)
            let daemon = endurance.daemon
            let echo = try endurance.lab.start(.origin, Lab.python(["load.py", "serve", "198.51.100.14", "7000"]))
            try endurance.lab.waitForPort(7000, of: "198.51.100.14")
            #expect(try endurance.becomes("green"))
            let fake = try endurance.routes.address(of: "web.example")
            let open = try endurance.lab.start(
                .device, Lab.python(["load.py", "hold", "198.51.100.14", "7000", "5", "40"]))
            try open.waitFor("\"open\": 5")
            let before = try endurance.assign()
            let stream = [
                "curl", "-sSN", "--max-time", "120", "--unix-socket", Daemon.socket(endurance.lab),
                "http://gateway/v1/events",
            ]
            let listening = try endurance.lab.start(.gateway, stream)
            try listening.waitFor("event: hello")
            let (lines, cpu) = (endurance.lines, daemon.cpuSeconds)
            let stopped = Stopwatch()
            daemon.program.signal(.stop)
            // Some devices come while nobody answers; a SYN is repeated for half a minute and longer.
            let waiting = try (0..<5).map { number in
                try endurance.lab.start(
                    .device,
                    ["curl", "-sS", "--max-time", "50", "--resolve", "web.example:80:\(fake)", "http://web.example/"])
            }
            _ = Lab.wait(30) { false }
            daemon.program.signal(.goOn)
            let wentOn = Stopwatch()
            let standstill = stopped.seconds
            #expect(try Lab.wait(promised: 5) { try endurance.pageComes(at: fake) })
            #expect(try endurance.becomes("green"))
            #expect(wentOn.seconds < 15)
            // Of the sleep that it was stopped in two seconds at most were planned.
            let said = try #require(daemon.events("stalled").last, "\(daemon.program.errors)")
            let seconds = said.firstMatch(of: /level=warning seconds=([0-9]+)/).flatMap { Double($0.output.1) } ?? 0
            #expect((standstill - 3...standstill + 1).contains(seconds), "\(said) after \(standstill)")
            #expect(daemon.events("stalled").count == 1)
            #expect(listening.output.contains("event: stalled\n"), "\(listening.output)")
            #expect(listening.output.contains("stood still for \(Int(seconds)) s"), "\(listening.output)")
            #expect(try endurance.kept() == before)
            #expect(try open.wait(within: 60).output.contains("\"alive\": 5"), "they live on: \(open.output)")
            for one in waiting {
                #expect(try one.wait(within: 90).output == "\(RouteLab.proxied) web.example\n")
            }
            #expect(daemon.cpuSeconds - cpu < 2)
            #expect(endurance.lines - lines < 40, "\(daemon.program.errors.suffix(2000))")
            #expect(daemon.isRunning)
            #expect(try endurance.keptByRestart() == before)
            withExtendedLifetime(echo) {}
        }
    }
}
