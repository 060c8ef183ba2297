/// A bad link between device and gateway: nothing lost, nothing hangs.

import TestSupport
import Testing

extension LabTests {
    @Suite("over a bad link")
    struct BadLinkTests {
        static let links = [
            BadLink(loss: 0.01),
            BadLink(loss: 0.03),
            BadLink(loss: 0.10),
            BadLink(reorder: 0.25),
            BadLink(duplicate: 0.05),
            BadLink(corrupt: 0.01),
            BadLink(delay: 20),
            BadLink(delay: 200),
            BadLink(loss: 0.01, reorder: 0.25, duplicate: 0.05, corrupt: 0.01, delay: 20),
            BadLink(loss: 0.03, reorder: 0.25, duplicate: 0.05, corrupt: 0.01, delay: 20),
            BadLink(loss: 0.10, reorder: 0.25, duplicate: 0.05, corrupt: 0.01, delay: 200),
        ]

        @Test("bulk data arrives as it was sent, both ways", arguments: links)
        func arrives(link: BadLink) throws {
            let lab = try Lab(link: link)
            let origins = try Origins(lab, [.transfer])
            let proxy = try Upstream.embedded.start(in: lab)
            let daemon = try Daemon(lab, Daemon.Settings { $0.upstream = Daemon.Settings.http(Upstream.embedded.port) })
            let client = LabClient(lab, origins, .tunnel, authority: origins.authority)
            let count = link.loss >= 0.1 || link.delay >= 200 ? 256 << 10 : 4 << 20
            try client.transfer("up", count)
            try client.transfer("down", count)
            #expect(daemon.isRunning)
            withExtendedLifetime(proxy) {}
        }

        @Test("pages, ssh and WebSocket pass a link that loses, reorders, doubles and delays")
        func protocols() throws {
            let link = BadLink(loss: 0.03, reorder: 0.25, duplicate: 0.05, corrupt: 0.01, delay: 20)
            let lab = try Lab(link: link)
            let origins = try Origins(lab, Lab.hasSystemUsers ? [.web, .ssh] : [.web])
            let proxy = try Upstream.embedded.start(in: lab)
            let daemon = try Daemon(lab, Daemon.Settings { $0.upstream = Daemon.Settings.http(Upstream.embedded.port) })
            let client = LabClient(lab, origins, .tunnel, authority: origins.authority)
            try client.page("https://web.example/", version: "2")
            try client.page("http://web.example/", version: "1.1")
            try client.webSocket()
            if Lab.hasSystemUsers { try client.ssh(port: 22) }
            #expect(daemon.isRunning)
            withExtendedLifetime(proxy) {}
        }
    }
}
