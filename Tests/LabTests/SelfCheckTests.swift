/// The page's self-check, of devices that use the gateway and of devices that go around it in one way each.

import Foundation
import TestSupport
import Testing

/// A gateway with its page, and a device that fetches the images as a browser does.
private struct CheckLab {
    /// Whom the device asks for names.
    enum Resolver {
        case plain(String)
        /// It asks this one over TLS, and without an answer nobody.
        case overTLS(String)
    }

    static let page = "http://10.9.0.1"

    let routes: RouteLab
    let daemon: Daemon

    init() throws {
        routes = try RouteLab()
        try routes.lab.addTablet()
        daemon = try routes.start(routes.settings("web.example"))
    }

    private func curl(_ arguments: String...) throws -> String {
        try routes.lab.run(.device, ["curl", "-sS", "--globoff", "--max-time", "3"] + arguments).output
    }

    /// The addresses of a name, as the device's resolver has them; both families, as who has a route for both asks.
    private func addresses(of name: String, _ resolver: Resolver) throws -> [String] {
        switch resolver {
        case .plain(let server):
            return try ["A", "AAAA"].flatMap { type in
                let dig = ["dig", "+short", "+time=1", "+tries=1", "@\(server)", name, type]
                let lines = try routes.lab.run(.device, dig).output.split(separator: "\n").map(String.init)
                return lines.filter { $0.allSatisfy { $0.isHexDigit || $0 == "." || $0 == ":" } }
            }
        case .overTLS(let server):
            let answer = try routes.device("network.py", "ask", server, "853", "tcp")
            #expect(answer.hasPrefix("failed"), "\(answer)")
            return []
        }
    }

    /// Goes through a check, and returns its result for people and what was seen, as the log has it.
    func check(_ resolver: Resolver) throws -> (shown: String, seen: String) {
        let asking = try curl("\(Self.page)/check")
        // The image by IPv6 stands in a frame.
        let frame = asking.split(separator: "\"").first { $0.hasPrefix("/check/ipv6?n=") }.map(String.init)
        let framed = try curl("\(Self.page)\(#require(frame, "\(asking)"))")
        let images = (asking + framed).split(separator: "\"").filter { $0.contains("/check.png?n=") }.map(String.init)
        try #require(images.count == 3, "\(asking) \(framed)")
        let nonce = try #require(images[0].split(separator: "=").last.map(String.init))
        let name = "\(nonce).check.starship.internal"
        #expect(images[0].hasPrefix("http://\(name)/"))
        if let address = try addresses(of: name, resolver).first {
            _ = try curl("--resolve", "\(name):80:\(address)", images[0])
        }
        for image in images.dropFirst() { _ = try curl(image) }
        let shown = try curl("\(Self.page)/check?n=\(nonce)")
        return (shown, daemon.events("self-check").last.map(String.init) ?? "")
    }
}

extension LabTests {
    @Suite("self-check", .enabled(if: RouteLab.isPossible && Lab.has("curl")))
    struct SelfCheckTests {
        /// The words of the page for each fault that it knows.
        private static let faults = [
            "asks another DNS server", "asks a private DNS server over TLS", "asks DNS through HTTPS",
            "question did not come to the gateway", "packets take another way", "IPv6 goes around",
        ]

        /// Expects one fault among all that are known, or none, and these parts in the log's line.
        private func expect(
            _ found: (shown: String, seen: String), fault: String? = nil, _ parts: [String],
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            for known in Self.faults {
                let isShown = found.shown.contains(known)
                #expect(isShown == (known == fault), "\(known): \(found)", sourceLocation: sourceLocation)
            }
            for part in parts { #expect(found.seen.contains(part), "\(found)", sourceLocation: sourceLocation) }
        }

        @Test("with nothing wrong it says so, whichever names are proxied")
        func fine() throws {
            let lab = try CheckLab()
            let found = try lab.check(.plain("10.9.0.1"))
            expect(found, ["names=ours", "route=throughUs", "ipv6=throughUs"])
            #expect(found.shown.contains("This phone is fine"), "\(found)")
            #expect(lab.daemon.flow(with: ["client=10.9.0.2", "target=198.18.0.2:80", "rule=self-check"]))
            #expect(lab.daemon.flow(with: ["target=[2001:2::2]:80", "rule=self-check"]))
            #expect(!lab.routes.proxy.output.contains("198.18.0.2"))
            // Of these addresses nothing else answers, and at once.
            let start = Stopwatch()
            let answer = try lab.routes.device("network.py", "ask", "198.18.0.2", "443", "tcp")
            #expect(answer.hasPrefix("failed ConnectionRefusedError"), "\(answer)")
            #expect(start.seconds < 2)
        }

        @Test("a foreign resolver is named: behind us, where its questions are answered all the same")
        func foreignResolver() throws {
            let found = try CheckLab().check(.plain("198.51.100.53"))
            expect(
                found, fault: "asks another DNS server", ["names=foreignResolver(198.51.100.53)", "route=throughUs"])
            #expect(found.shown.contains("198.51.100.53"))
        }

        @Test("a resolver whose questions we never see leaves the cause open")
        func unseenResolver() throws {
            let lab = try CheckLab()
            let resolver = try lab.routes.lab.start(
                .device,
                [
                    "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
                    "--user=root", "--pid-file=", "--listen-address=127.0.0.1", "--bind-interfaces",
                    "--log-facility=-", "--address=/#/198.51.100.10",
                ])
            try resolver.waitFor("started")
            let found = try lab.check(.plain("127.0.0.1"))
            expect(found, fault: "question did not come to the gateway", ["names=other", "route=throughUs"])
        }

        @Test("DNS over TLS is named")
        func privateDNS() throws {
            let found = try CheckLab().check(.overTLS("198.51.100.11"))
            expect(
                found, fault: "asks a private DNS server over TLS",
                ["names=privateDNS(198.51.100.11)", "route=throughUs", "ipv6=throughUs"])
            #expect(found.shown.contains("198.51.100.11"))
        }

        @Test("a foreign IPv6 route is named")
        func foreignIPv6() throws {
            let lab = try CheckLab()
            let leads = ["ip", "-6", "route", "replace", "default", "via", "fd00:9::3"]
            #expect(try lab.routes.lab.run(.device, leads).status == 0)
            // Its question shows that it has IPv6.
            let found = try lab.check(.plain("fd00:9::1"))
            expect(found, fault: "IPv6 goes around", ["names=ours", "route=throughUs", "ipv6=\"around("])
        }

        @Test("a foreign IPv4 route is named")
        func foreignRoute() throws {
            let lab = try CheckLab()
            try lab.routes.lab.run(.device, ["ip", "route", "replace", "default", "via", "10.9.0.3"])
            let found = try lab.check(.plain("10.9.0.1"))
            expect(found, fault: "packets take another way", ["names=ours", "route=other", "ipv6=throughUs"])
        }
    }
}
