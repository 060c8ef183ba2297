/// The lab without the daemon: what the other tests take for granted.

import TestSupport
import Testing

extension LabTests {
    @Suite("the lab itself")
    struct LabItselfTests {
        @Test("packets of both families cross from the device to the origins")
        func forwards() throws {
            let lab = try Lab()
            for address in ["198.51.100.10", "2001:db8:51::10"] {
                let ping = try lab.run(.device, ["ping", "-c", "1", "-W", "2", address])
                #expect(ping.status == 0, "\(ping.output)")
            }
        }

        @Test("a silent address stays silent")
        func blackHole() throws {
            let lab = try Lab()
            let talk = try lab.client(.tunnel, to: "198.51.100.200", patience: 0.5, [])
            #expect(talk.opened == false)
            #expect(talk.cause == "timeout")
        }

        @Test("each proxy carries pages when it is named as one", arguments: Upstream.allCases)
        func proxies(upstream: Upstream) throws {
            guard upstream != .embedded else { return }
            guard upstream.isAvailable else { return Lab.leaveOut("pages by \(upstream)") }
            let lab = try Lab()
            let origins = try Origins(lab, [.web])
            let proxy = try upstream.start(in: lab, trusting: origins.authority)
            let common = ["curl", "-sS", "--max-time", "10", "-x", "http://10.77.0.2:\(upstream.port)"]
            for url in ["https://web.example/", "http://web.example/"] {
                let page = try lab.run(
                    .gateway, common + ["--cacert", upstream.authority(origins, lab), url])
                #expect(page.output == "A page from the lab's origin\n", "\(page.errors) \(proxy.errors)")
            }
        }

        @Test("bulk data, WebSocket, git and ssh work without a gateway")
        func origins() throws {
            let lab = try Lab()
            let origins = try Origins(lab, Origins.Kind.allCases.filter { $0 != .ssh || Lab.hasSystemUsers })
            let client = LabClient(lab, origins, .tunnel, authority: origins.authority)
            try client.transfer("up", 50_000_000)
            try client.transfer("down", 50_000_000)
            try client.webSocket()
            try client.clone(over: "http")
            try client.page("https://web.example/", version: "2")
            try client.page("https://web.example/", version: "1.1")
            if Lab.hasSystemUsers { try client.ssh(port: 443) }
        }
    }
}
