/// What people do all day, from an unmodified device, over every proxy that the lab has.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("protocols over real proxies")
    struct ProtocolTests {
        @Test(
            "pages, uploads, WebSocket, git, ssh and bulk data pass",
            arguments: [Upstream.openedSquid, .tinyproxy, .mitmproxy, .embedded])
        func everything(upstream: Upstream) throws {
            guard upstream.isAvailable else { return Lab.leaveOut("everything over \(upstream)") }
            if !Lab.hasSystemUsers { Lab.leaveOut("ssh over \(upstream)") }
            let lab = try Lab()
            let origins = try Origins(lab, Lab.hasSystemUsers ? [.web, .ssh, .transfer] : [.web, .transfer])
            let proxy = try upstream.start(in: lab, trusting: origins.authority)
            let daemon = try Daemon(lab, Daemon.Settings { $0.upstream = Daemon.Settings.http(upstream.port) })
            for way in Way.allCases {
                let client = LabClient(lab, origins, way, authority: upstream.authority(origins, lab))
                try client.page("https://web.example/", version: "1.1")
                try client.page("https://web.example/", version: "2")
                try client.page("http://web.example/", version: "1.1")
                try client.bodies("https://web.example")
                try client.webSocket()
                try client.clone(over: "http")
                try client.clone(over: "https")
                if Lab.hasSystemUsers { try client.ssh(port: 22) }
                try client.transfer("up", 16 << 20)
                try client.transfer("down", 16 << 20)
            }
            #expect(daemon.isRunning)
            withExtendedLifetime(proxy) {}
        }

        @Test(
            "stock squid carries what it allows, and plain http in absolute form",
            .enabled(if: Upstream.squid.isAvailable))
        func stockSquid() throws {
            let lab = try Lab()
            let origins = try Origins(lab, [.web, .ssh, .transfer])
            let proxy = try Upstream.squid.start(in: lab)
            let daemon = try Daemon(lab, Daemon.Settings { $0.upstream = Daemon.Settings.http(Upstream.squid.port) })
            for way in Way.allCases {
                let client = LabClient(lab, origins, way, authority: origins.authority)
                try client.page("https://web.example/", version: "1.1")
                try client.page("https://web.example/", version: "2")
                try client.webSocket()
                try client.ssh(port: 443)
                try client.transfer("down", 16 << 20, port: 443)
                try client.page("http://web.example/", version: "1.1")
                try client.bodies("http://web.example")
                try client.clone(over: "http")
                try client.clone(over: "https")
            }
            let log = try String(
                contentsOf: lab.directory.appending(path: "squid/access.log"), encoding: .utf8)
            #expect(log.contains("TCP_DENIED/403") && log.contains(":80 "), "CONNECT was tried first: \(log)")
            #expect(log.contains("GET http://"), "then absolute form: \(log)")
            let refusals = log.split(separator: "\n").filter { $0.contains("TCP_DENIED/403") }.count
            #expect(refusals <= 2, "the refusal is remembered: \(log)")
            #expect(daemon.isRunning)
            withExtendedLifetime(proxy) {}
        }

        @Test("IPv6 origins are reached by tunnel and by SOCKS5")
        func sixth() throws {
            let lab = try Lab()
            let origins = try Origins(lab, [.web, .transfer])
            let proxy = try Upstream.embedded.start(in: lab)
            let daemon = try Daemon(lab, Daemon.Settings { $0.upstream = Daemon.Settings.http(Upstream.embedded.port) })
            for way in Way.allCases {
                let client = LabClient(lab, origins, way, authority: origins.authority)
                try client.page("https://[2001:db8:51::10]/", version: "2")
                try client.page("http://[2001:db8:51::10]/", version: "1.1")
                try client.transfer("up", 64 << 20, to: "2001:db8:51::13")
                try client.transfer("down", 64 << 20, to: "2001:db8:51::13")
            }
            #expect(daemon.isRunning)
            withExtendedLifetime(proxy) {}
        }
    }

    @Suite("bulk data")
    struct BulkTests {
        @Test(
            "1 GiB each way arrives as it was sent, by tunnel and by SOCKS5, with one worker; and a quarter with three",
            arguments: [(1, 1 << 30), (3, LongRun.rounds(1 << 28, long: 1 << 30))])
        func gibibyte(workers: Int, count: Int) throws {
            let lab = try Lab()
            let origins = try Origins(lab, [.transfer])
            let proxy = try Upstream.embedded.start(in: lab)
            let daemon = try Daemon(
                lab,
                Daemon.Settings {
                    $0.upstream = Daemon.Settings.http(Upstream.embedded.port)
                    $0.workers = workers
                })
            for way in Way.allCases {
                let client = LabClient(lab, origins, way, authority: origins.authority)
                try client.transfer("up", count)
                try client.transfer("down", count)
            }
            #expect(daemon.isRunning)
            withExtendedLifetime(proxy) {}
        }

        @Test("without offload the same code moves packets of the MTU's size", arguments: [1, 3])
        func plainPackets(workers: Int) throws {
            let lab = try Lab()
            let origins = try Origins(lab, [.transfer, .echo])
            let proxy = try Upstream.embedded.start(in: lab)
            let daemon = try Daemon(
                lab,
                Daemon.Settings {
                    $0.offload = false
                    $0.upstream = Daemon.Settings.http(Upstream.embedded.port)
                    $0.workers = workers
                })
            let features = try lab.run(.gateway, ["ethtool", "-k", "starship0"]).output
            #expect(features.contains("tcp-segmentation-offload: off"), "\(features)")
            let client = LabClient(lab, origins, .tunnel, authority: origins.authority)
            for host in ["198.51.100.13", "2001:db8:51::13"] {
                try client.transfer("up", 64 << 20, to: host)
                try client.transfer("down", 64 << 20, to: host)
            }
            #expect(daemon.isRunning)
            withExtendedLifetime(proxy) {}
        }

        @Test("with three workers many flows at once all move", arguments: [1, 3])
        func atOnce(workers: Int) throws {
            let lab = try Lab()
            let origins = try Origins(lab, [.transfer])
            let proxy = try Upstream.embedded.start(in: lab)
            let daemon = try Daemon(
                lab,
                Daemon.Settings {
                    $0.upstream = Daemon.Settings.http(Upstream.embedded.port)
                    $0.workers = workers
                })
            let clients = try (0..<16).map { number in
                let direction = number % 2 == 0 ? "up" : "down"
                return try lab.start(
                    .device, Lab.python(["transfer.py", direction, "\(16 << 20)", "198.51.100.13", "5000"]))
            }
            for client in clients {
                let result = try client.wait(within: 60)
                #expect(result.output.contains("\"equal\": true"), "\(result.output) \(result.errors)")
            }
            #expect(daemon.isRunning)
            withExtendedLifetime((origins, proxy)) {}
        }
    }
}
