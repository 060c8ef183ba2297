/// The certificates of proxies that decrypt, as the page gets them for a phone: from laptops, in both modes, whether or
/// not there is a way out of the LAN.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite(
        "certificates on the page",
        .enabled(if: PageLab.isPossible && Upstream.mitmproxy.isAvailable && Lab.has("openssl")))
    struct PageCertificateTests {
        /// A proxy on the laptop, as profiles and pages call it.
        private struct Proxy {
            let kind: String
            let name: String
            let port: Int
            /// Where it has its authority, in the lab's directory.
            let file: String
            /// What the certificate is issued to.
            let issuedTo: String
            /// A host of its own that shows a page, and words on it.
            let host: String
            let ownWords: String

            static let whistle = Proxy(
                kind: "whistle", name: "Whistle", port: PageLab.whistlePort, file: "whistle/root.crt",
                issuedTo: "whistle.17350000000001", host: "local.whistlejs.com", ownWords: "Network")
            static let mitmproxy = Proxy(
                kind: "mitmproxy", name: "mitmproxy", port: Upstream.mitmproxy.port, file: "mitm/mitmproxy-ca-cert.pem",
                issuedTo: "mitmproxy", host: "mitm.it", ownWords: "mitmproxy")

            /// In global mode and in domain mode, each by an address of its own, so that each is asked for itself.
            var profiles: String {
                [("all", "10.9.0.4", ""), ("some", "10.9.0.5", "\"web.example\"")].map { mode, address, domains in
                    """
                    { id: "\(kind)-\(mode)", name: "\(name) for \(mode)", selfService: true, domains: [\(domains)],
                      upstream: { type: "http", host: "\(address)", port: \(port), kind: "\(kind)" } },
                    """
                }.joined(separator: "\n")
            }
        }

        private static let proxies = [Proxy.whistle, .mitmproxy]

        /// A gateway, and a laptop with both proxies.
        private struct Desk {
            let lab: PageLab
            let whistle: LabProgram
            let mitmproxy: LabProgram

            init() throws {
                var programs: [LabProgram] = []
                lab = try PageLab(hasLaptop: true) { settings, lab in
                    try lab.run(.laptop, ["ip", "address", "add", "10.9.0.5/24", "dev", "eth0"])
                    programs.append(try PageLab.startWhistle(in: lab, .laptop))
                    programs.append(try PageLab.startReader(in: lab, .laptop))
                    settings.profiles = proxies.map(\.profiles).joined(separator: "\n")
                }
                (whistle, mitmproxy) = (programs[0], programs[1])
            }

            /// What openssl says of a proxy's own authority.
            func openssl(_ proxy: Proxy, _ options: String...) throws -> String {
                let file = "\(lab.lab.directory.path)/\(proxy.file)"
                let result = try lab.lab.run(.laptop, ["openssl", "x509", "-in", file, "-noout"] + options)
                return result.output.trimmingCharacters(in: .newlines)
            }

            func curl(_ arguments: String...) throws -> LabProgram.Result {
                try lab.lab.run(.device, ["curl", "-sS", "--max-time", "10"] + arguments)
            }
        }

        @Test(
            "the page shows a proxy's own certificate in both modes and gives it out as phones take it",
            arguments: zip(PageLab.Manner.both, [true, false]))
        func shown(_ manner: PageLab.Manner, hasInternet: Bool) throws {
            let desk = try Desk()
            if !hasInternet { try desk.lab.lab.run(.gateway, ["ip", "link", "set", "wan", "down"]) }
            for proxy in Self.proxies {
                for mode in ["all", "some"] { try expectShown(proxy, mode, manner, desk) }
            }
            let walk = try desk.lab.browse(
                """
                \(manner.commands)
                open \(manner.address)/
                press Put this phone back to the default
                text
                \(PageLab.survey)
                """)
            #expect(walk.texts[0].contains("Remove the certificate of mitmproxy"), "\(walk.texts[0])")
            walk.expectGood(isDark: manner.isDark)
            // In absolute form, which is how both answer such names whatever they think of CONNECT.
            #expect(!desk.whistle.output.contains("CONNECT rootca.pro"), "\(desk.whistle.output)")
        }

        private func expectShown(
            _ proxy: Proxy, _ mode: String, _ manner: PageLab.Manner, _ desk: Desk
        ) throws {
            let asked = Self.count(of: "GET http://rootca.pro/", in: desk.whistle)
            let walk = try desk.lab.browse(
                """
                \(manner.commands)
                open \(manner.address)/
                press Switch this phone to \(proxy.name) for \(mode)
                text
                press Certificate
                again Issued to
                text
                \(PageLab.survey)
                open http://\(proxy.host)/
                text
                """)
            #expect(walk.statuses == [200, 200, 200, 200], "\(walk.pages)")
            #expect(walk.texts[2].contains(proxy.ownWords), "\(walk.texts[2])")
            walk.expectGood(isDark: manner.isDark)
            #expect(walk.texts[0].contains("reads encrypted requests too"), "\(walk.texts[0])")
            let text = walk.texts[1]
            let digits = try desk.openssl(proxy, "-fingerprint", "-sha256").split(separator: "=").last.map(String.init)
            #expect(text.contains("Issued to\n\(proxy.issuedTo)\n"), "\(text)")
            #expect(try text.contains("SHA-256\n\(#require(digits))\n"), "\(text)")
            let year = try #require(try desk.openssl(proxy, "-enddate").split(separator: " ").dropLast().last)
            #expect(text.contains(year), "\(year): \(text)")
            for part in ["iOS", "Android", "http://10.9.0.1/ca.crt"] {
                #expect(text.contains(part), "\(part): \(text)")
            }
            if proxy.kind == "whistle" {
                #expect(Self.count(of: "GET http://rootca.pro/", in: desk.whistle) > asked, "asked for this one")
                try expectOwnPage(desk)
            }
            try expectFile(proxy, desk)
        }

        private static func count(of words: String, in program: LabProgram) -> Int {
            program.output.split(separator: "\n").count { $0 == words }
        }

        /// The phone gets the same from the proxy itself, under the name that Whistle has for it.
        private func expectOwnPage(_ desk: Desk) throws {
            let address = try desk.lab.routes.address(of: "rootca.pro")
            let own = try desk.curl("--resolve", "rootca.pro:80:\(address)", "http://rootca.pro/")
            let file = "\(desk.lab.lab.directory.path)/\(Proxy.whistle.file)"
            #expect(try own.output == String(contentsOfFile: file, encoding: .utf8), "\(own.errors)")
        }

        /// What the page gives out is the proxy's own, in DER under a type that phones install; with Whistle's a phone
        /// believes what it decrypts.
        private func expectFile(_ proxy: Proxy, _ desk: Desk) throws {
            let file = "\(desk.lab.lab.directory.path)/given.crt"
            let given = try desk.curl("-o", file, "-w", "%{content_type}", "\(PageLab.page)/ca.crt")
            #expect(given.output == "application/x-x509-ca-cert", "\(given.errors)")
            let commands = """
                openssl x509 -inform der -in \(file) -out \(file).pem
                openssl x509 -in \(desk.lab.lab.directory.path)/\(proxy.file) -outform der | cmp - \(file)
                """
            let same = try desk.lab.lab.run(.device, ["bash", "-euc", commands])
            #expect(same.status == 0, "\(same.output) \(same.errors)")
            guard proxy.kind == "whistle" else { return }
            let address = try desk.lab.routes.address(of: "web.example")
            let place = ["--resolve", "web.example:443:\(address)", "https://web.example/"]
            let believed = try desk.curl("-w", "%{http_code}", "--cacert", "\(file).pem", place[0], place[1], place[2])
            #expect(believed.status == 0, "\(believed.errors)")
            #expect(desk.whistle.output.contains("GET https://web.example/"), "\(desk.whistle.output)")
            // Nobody else is believed for it.
            let other = Proxy.mitmproxy.file
            let refused = try desk.curl(
                "--cacert", "\(desk.lab.lab.directory.path)/\(other)", place[0], place[1], place[2])
            #expect(refused.status == 60, "\(refused.errors)")
        }
    }
}
