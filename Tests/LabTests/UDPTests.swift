/// UDP of a device through the real kernel: what goes direct, what is refused, and what does not fit.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("UDP")
    struct UDPTests {
        /// What came of a question.
        private struct Outcome: Decodable {
            var heard: Int?
            var size: Int?
            var error: String?
            var ms: Int
            var mtu: Int
        }

        private static let hosts = ["198.51.100.14", "2001:db8:51::14"]

        /// A host outside that answers on a port with so many octets.
        private func serve(_ lab: Lab, port: Int, size: Int = 100) throws -> LabProgram {
            let program = try lab.start(
                .origin, Lab.python(["datagrams.py", "serve", "\(port)", "\(size)"] + Self.hosts))
            #expect(Lab.wait { program.output.contains("ready") })
            return program
        }

        private func ask(_ lab: Lab, _ host: String, port: Int, size: Int = 48, whole: Bool = false) throws -> Outcome {
            let arguments = ["datagrams.py", "ask", host, "\(port)", "\(size)"] + (whole ? ["whole"] : [])
            return try JSONDecoder().decode(Outcome.self, from: Data(try lab.program(.device, arguments).utf8))
        }

        @Test("NTP and IKE go direct, both ways, and are shown", arguments: hosts)
        func direct(host: String) throws {
            let lab = try Lab()
            let servers = try [123, 500, 4500].map { try serve(lab, port: $0) }
            let daemon = try Daemon(lab)
            for port in [123, 500, 4500] {
                let outcome = try ask(lab, host, port: port)
                #expect(outcome.heard == 48 && outcome.size == 100, "\(port): \(outcome) \(daemon.program.errors)")
            }
            #expect(try daemon.snapshot()["counters.udp_flows_opened"] == 3)
            withExtendedLifetime(servers) {}
        }

        /// B130: within 50 ms, so that nobody waits for QUIC.
        @Test("QUIC is refused at once", arguments: hosts, [443, 80])
        func refused(host: String, port: Int) throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            var outcome = try ask(lab, host, port: port, size: 1200)
            // A busy machine makes one slow, a fault each.
            for _ in 0..<4 where outcome.ms >= 50 { outcome = try ask(lab, host, port: port, size: 1200) }
            #expect(outcome.error == "ECONNREFUSED" && outcome.ms < 50, "\(outcome) \(daemon.program.errors)")
        }

        @Test("a port that nobody serves is unreachable for the device too", arguments: hosts)
        func unreachable(host: String) throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            let outcome = try ask(lab, host, port: 4500)
            #expect(outcome.error == "ECONNREFUSED", "\(outcome) \(daemon.program.errors)")
            #expect(try daemon.snapshot()["counters.udp_errors_told"] == 1)
        }

        /// What the device does not let be cut it is told about, with the size that fits; the rest is cut.
        @Test("a way that is narrow is told of, near and far", arguments: hosts, ["gateway", "internet"])
        func narrow(host: String, place: String) throws {
            let lab = try Lab()
            let server = try serve(lab, port: 4500)
            let daemon = try Daemon(lab)
            let (at, link, back) =
                place == "gateway" ? (Lab.Place.gateway, "wan", "eth0") : (Lab.Place.internet, "far", "eth0")
            try lab.run(at, ["ip", "link", "set", link, "mtu", "1300"])
            try lab.run(place == "gateway" ? .internet : .origin, ["ip", "link", "set", back, "mtu", "1300"])
            let told = try ask(lab, host, port: 4500, size: 1400, whole: true)
            #expect(told.error == "EMSGSIZE" && told.mtu == 1300, "\(told) \(daemon.program.errors)")
            let fits = try ask(lab, host, port: 4500, size: 1200, whole: true)
            #expect(fits.heard == 1200, "\(fits) \(daemon.program.errors)")
            // Larger than the device's own link: it comes in fragments, and leaves in fragments.
            let cut = try ask(lab, host, port: 4500, size: 2500)
            #expect(cut.heard == 2500, "\(cut) \(daemon.program.errors)")
            withExtendedLifetime(server) {}
        }

        /// RFC 791, section 3.2; RFC 8200, section 4.5.
        @Test("a large answer comes in fragments that the device puts together", arguments: hosts, [true, false])
        func large(host: String, offload: Bool) throws {
            let lab = try Lab()
            let server = try serve(lab, port: 4500, size: 6000)
            let daemon = try Daemon(lab, Daemon.Settings { $0.offload = offload })
            let outcome = try ask(lab, host, port: 4500)
            #expect(outcome.size == 6000, "\(outcome) \(daemon.program.errors)")
            withExtendedLifetime(server) {}
        }

        /// B124: with both families, small and larger than the link.
        @Test("ping is answered, also when it is larger than the link", arguments: hosts, [56, 3000])
        func ping(host: String, size: Int) throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            let result = try lab.run(.device, ["ping", "-c", "2", "-i", "0.2", "-W", "2", "-s", "\(size)", host])
            #expect(result.output.contains("2 received"), "\(result.output) \(daemon.program.errors)")
        }

        /// What has come back of many flows.
        private struct Answers: Decodable {
            var answered: Int?
            var silent: Int?
            var refused: Int?
            var seconds: Int

            enum CodingKeys: String, CodingKey {
                case answered, silent, seconds
                case refused = "ECONNREFUSED"
            }
        }

        /// B230: 50,000 flows of 50 devices, 2,048 of them at a time, at the bounds that everybody has.
        @Test("fifty thousand flows keep to the bounds, those over them are counted, and nothing is left of them")
        func many() throws {
            let lab = try Lab()
            let sources = (100..<150).map { "10.9.0.\($0)" }
            try lab.shell(.device, sources.map { "ip address add \($0)/24 dev eth0" }.joined(separator: "; "))
            let server = try serve(lab, port: 4500, size: 10)
            // The shortest that can be configured; half a minute is usual.
            let idle = LongRun.isOn ? 30.0 : 5
            let daemon = try Daemon(lab, Daemon.Settings { $0.limits = "udpIdle: \"\(Int(idle))s\"" })
            _ = try ask(lab, Self.hosts[0], port: 4500, size: 10)
            _ = try daemon.snapshot(within: idle + 5) { $0["udp_flows"] == 0 }
            let (descriptors, memory) = (daemon.descriptors, daemon.residentKiB)
            let count = 50_000
            let load = try lab.start(
                .device,
                Lab.python(["datagrams.py", "flows", Self.hosts[0], "4500", "\(count)", "1500"] + sources))
            var most = (flows: 0, descriptors: 0)
            while load.isRunning {
                most.descriptors = max(most.descriptors, daemon.descriptors)
                most.flows = max(most.flows, try daemon.snapshot()["udp_flows"])
                usleep(200_000)
            }
            let result = try load.wait(within: 300)
            let answers = try JSONDecoder().decode(Answers.self, from: Data(result.output.utf8))
            #expect((1900...2048).contains(most.flows), "\(most) \(answers)")
            #expect(most.descriptors <= descriptors + 2048, "\(most)")
            let counters = try daemon.snapshot()
            let (opened, over) = (counters["counters.udp_flows_opened"] - 1, counters["counters.udp_limit_hits"])
            // Each has sent one datagram, which has got a flow or was over a bound.
            let lost = counters["counters.tun_tx_dropped"]
            #expect(opened + over <= count && opened + over + lost >= count, "\(opened), \(over), \(lost)")
            #expect(opened >= 2048 && over > 0)
            #expect((answers.answered ?? 0) > opened * 9 / 10, "\(answers) of \(opened)")
            #expect((answers.refused ?? 0) > 0, "they are told, as often as ICMP errors may be sent")
            let said = daemon.events("udp-flow-limit")
            #expect(said.first?.contains("level=warning") == true)
            #expect(said.count <= answers.seconds / 10 + 2, "once in ten seconds: \(said.count)")

            _ = try daemon.snapshot(within: idle + 5) { $0["udp_flows"] == 0 }
            #expect(try daemon.snapshot()["udp_flows"] == 0)
            #expect(try ask(lab, Self.hosts[0], port: 4500).heard == 48, "there is room again")
            let isBack = Lab.wait(90) {
                daemon.descriptors <= descriptors + 5 && daemon.residentKiB <= memory + 16 << 10
            }
            #expect(isBack, "\(daemon.descriptors) of \(descriptors), \(daemon.residentKiB) KiB of \(memory)")
            withExtendedLifetime(server) {}
        }

        /// B230: one device alone has 64.
        @Test("thousands of flows of one device are 64 at a time, and the next device has its own")
        func oneDevice() throws {
            let lab = try Lab()
            try lab.run(.device, ["ip", "address", "add", "10.9.0.100/24", "dev", "eth0"])
            let server = try serve(lab, port: 4500, size: 10)
            let daemon = try Daemon(lab)
            let before = daemon.descriptors
            let arguments = ["datagrams.py", "flows", Self.hosts[0], "4500", "3000", "1500", "10.9.0.2"]
            let answers = try JSONDecoder().decode(
                Answers.self, from: Data(try lab.program(.device, arguments).utf8))
            #expect(answers.answered == 64, "\(answers)")
            let counters = try daemon.snapshot()
            #expect(counters["udp_flows"] == 64 && counters["counters.udp_flows_opened"] == 64)
            let lost = counters["counters.tun_tx_dropped"]
            #expect((2936 - lost...2936).contains(counters["counters.udp_limit_hits"]), "\(counters)")
            #expect(daemon.descriptors <= before + 64)
            let other = try JSONDecoder().decode(
                Answers.self,
                from: Data(
                    try lab.program(
                        .device, ["datagrams.py", "flows", Self.hosts[0], "4500", "10", "100", "10.9.0.100"]
                    ).utf8))
            #expect(other.answered == 10, "\(other)")
            withExtendedLifetime(server) {}
        }

        /// B230: the descriptors are back when everything has been idle.
        @Test("no flow outlives its 30 seconds", .enabled(if: LongRun.isOn, "\(LongRun.comment)"))
        func idle() throws {
            let lab = try Lab()
            let server = try serve(lab, port: 4500)
            let daemon = try Daemon(lab)
            let before = daemon.descriptors
            for _ in 0..<70 { _ = try ask(lab, Self.hosts[0], port: 4500, size: 10) }
            #expect(daemon.descriptors - before <= 64)
            #expect(Lab.wait(40) { daemon.descriptors - before <= 1 })
            withExtendedLifetime(server) {}
        }
    }
}
