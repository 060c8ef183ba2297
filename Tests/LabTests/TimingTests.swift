/// Small round trips, stalled flows, short queues.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("timing")
    struct TimingTests {
        /// Nagle and delayed ACK must not meet (B240).
        @Test("five hundred small round trips are quick", arguments: Way.allCases)
        func pingPong(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .echo()]])
            let daemon = try Daemon(lab)
            let talk = try Lab.quick(\.p99, below: 0.02) {
                try lab.client(way, [.pingPong(bytes: 3, count: 500)])
            }
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            #expect((talk.median ?? 9) < 0.002 && (talk.p99 ?? 9) < 0.02, "\(talk)")
            withExtendedLifetime(proxy) {}
        }

        /// A client that never reads, by either way, and a half-closed one (B242).
        @Test("stalled flows cost no CPU, and others go on")
        func stalled() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab,
                [
                    [.connect, .established, .sendBytes(50_000_000)], [.connect, .established, .sendBytes(50_000_000)],
                    [.connect, .established, .receiveEnd(.fin), .pause(60)], [.connect, .established, .echo()],
                ])
            let daemon = try Daemon(lab)
            let seconds: Double = LongRun.isOn ? 30 : 8
            var stalls: [LabProgram] = []
            for way in Way.allCases { stalls.append(try lab.startClient(way, [.pause(seconds + 10)])) }
            _ = Lab.wait(1) { false }
            stalls.append(try lab.startClient(.tunnel, [.halfClose, .pause(seconds + 10)]))
            _ = Lab.wait(2) { false }
            let before = daemon.cpuSeconds
            _ = Lab.wait(seconds - 2) { false }
            #expect((daemon.cpuSeconds - before) / (seconds - 2) < 0.02)
            let talk = try Lab.quick(\.median, below: 0.002) {
                try lab.client(.tunnel, [.pingPong(bytes: 3, count: 100)])
            }
            #expect(talk.problem == nil && (talk.median ?? 9) < 0.002, "\(talk) \(daemon.program.errors)")
            withExtendedLifetime((proxy, stalls)) {}
        }

        /// The kernel's queue in front of the device is short (B244).
        @Test("a short transmit queue doesn't starve uploads, whatever the offload", arguments: [true, false])
        func queueLengths(offload: Bool) throws {
            let lab = try Lab()
            let origins = try Origins(lab, [.transfer])
            let proxy = try Upstream.embedded.start(in: lab)
            var seconds: [Int: Double] = [:]
            for length in [100, 500, 1000, 10000] {
                let daemon = try Daemon(
                    lab,
                    Daemon.Settings {
                        $0.upstream = Daemon.Settings.http(Upstream.embedded.port)
                        $0.offload = offload
                    })
                try lab.run(.gateway, ["ip", "link", "set", "starship0", "txqueuelen", "\(length)"])
                let client = LabClient(lab, origins, .tunnel, authority: origins.authority)
                // The best of three; of more where others had the machine meanwhile.
                for run in 0..<6 where run < 3 || (seconds[length] ?? 99) * 0.5 >= (seconds.values.min() ?? 0) {
                    let began = Date()
                    try client.transfer("up", 128 << 20)
                    seconds[length] = min(seconds[length] ?? 99, Date().timeIntervalSince(began))
                }
                // What the kernel dropped there is what the status says.
                let dropped = try Self.dropped(lab)
                #expect(try daemon.snapshot()["counters.tun_tx_dropped"] == dropped)
                #expect(try daemon.stop() == 0)
            }
            let best = seconds.values.min() ?? 1
            let worst = seconds.values.max() ?? 99
            #expect(best / worst > 0.5, "seconds by queue length: \(seconds)")
            withExtendedLifetime(proxy) {}
        }

        /// What ip(8) says that the device has dropped instead of handing it to us.
        private static func dropped(_ lab: Lab) throws -> Int {
            let list = try lab.run(.gateway, ["ip", "-j", "-s", "link", "show", "starship0"]).output
            let links = try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [[String: Any]]
            let figures = (links?.first?["stats64"] as? [String: Any])?["tx"] as? [String: Any]
            guard let dropped = figures?["dropped"] as? Int else { throw LabError("no figures: \(list)") }
            return dropped
        }

        @Test("what the device's queue has no room for is counted, and shown in snapshot, status and figures (B244)")
        func drops() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab, Daemon.Settings { $0.offload = false })
            func status(_ arguments: String...) throws -> String {
                let command = ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab), "status"]
                return try lab.run(.gateway, command + arguments).output
            }
            #expect(try daemon.snapshot()["counters.tun_tx_dropped"] == 0)
            #expect(try !status().contains("dropped"))
            try lab.run(.gateway, ["ip", "link", "set", "starship0", "txqueuelen", "20"])
            // Nobody reads meanwhile, so 20 of these 100 wait and 80 go nowhere.
            daemon.program.signal(.stop)
            try lab.run(.device, ["ping", "-q", "-c", "100", "-i", "0.002", "-W", "1", "198.51.100.14"])
            daemon.program.signal(.goOn)
            let dropped = try Self.dropped(lab)
            #expect((80...100).contains(dropped))
            #expect(try daemon.snapshot()["counters.tun_tx_dropped"] == dropped)
            #expect(try status("--json").contains("\"tun_tx_dropped\":\(dropped)"))
            let card = try status()
            #expect(card.contains("\(dropped) packets of devices: the queue of the TUN device was full"), "\(card)")
            let curl = ["curl", "-sS", "--unix-socket", Daemon.socket(lab), "http://gateway/metrics"]
            let figures = try lab.run(.gateway, curl).output
            #expect(figures.contains("\nstarship_tun_dropped_packets_total \(dropped)\n"), "\(figures)")
        }
    }
}
