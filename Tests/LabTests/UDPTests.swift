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
