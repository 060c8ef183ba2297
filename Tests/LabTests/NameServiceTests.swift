/// The DNS service beside a real resolver, asked by a real client: dnsmasq in the internet, dig on the device.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("DNS service", .enabled(if: Lab.has("dnsmasq") && Lab.has("dig")))
    struct NameServiceTests {
        private static let resolver = "10.77.0.2"

        /// What the resolver knows; it writes down every question.
        private func startResolver(_ lab: Lab) throws -> LabProgram {
            let text = String(repeating: "x", count: 250)
            // 15 records of 250 octets: an answer of 4 KB.
            let long = (10..<25).map { "--txt-record=long.other.test,\($0)\(text.dropLast(2))" }
            let program = try lab.start(
                .internet,
                [
                    "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
                    "--user=root", "--pid-file=", "--listen-address=\(Self.resolver)", "--bind-interfaces",
                    "--log-queries", "--log-facility=-", "--local-ttl=300", "--edns-packet-max=4096",
                    "--host-record=www.other.test,203.0.113.7,2001:db8::7", "--cname=alias.other.test,www.other.test",
                    "--mx-host=other.test,mail.other.test,10", "--dns-rr=odd.other.test,65280,0102030405",
                    "--address=/proxied.test/203.0.113.66", "--local=/other.test/",
                ] + long)
            try program.waitFor("started", within: 10)
            return program
        }

        private func settings(_ lab: Lab, _ dns: String = "") -> Daemon.Settings {
            Daemon.Settings {
                $0.upstream += ", domains: [\"proxied.test\"]"
                $0.more = """
                    state: "\(lab.directory.path)/state",
                    dns: { listen: ["10.9.0.1:53", "[fd00:9::1]:53"], resolvers: ["\(Self.resolver):53"], \(dns) },
                    """
            }
        }

        /// The status of an answer and its records without their TTLs, sorted.
        private func dig(_ lab: Lab, _ place: Lab.Place, _ arguments: [String]) throws -> [String] {
            let result = try lab.run(
                place, ["dig", "+noall", "+comments", "+answer", "+nottlid", "+tries=1", "+time=3"] + arguments)
            let lines = result.output.split(separator: "\n").map(String.init)
            let status = lines.first { $0.contains("status: ") }?.split(separator: ",").dropFirst().first
            let records = lines.filter { !$0.hasPrefix(";") }.sorted()
            return [status.map(String.init) ?? "no answer: \(result.output)"] + records
        }

        @Test(
            "answers what the resolver answers",
            arguments: [
                ["www.other.test", "A"], ["www.other.test", "AAAA"], ["alias.other.test", "A"],
                ["alias.other.test", "AAAA"], ["other.test", "MX"], ["odd.other.test", "TYPE65280"],
                ["www.other.test", "HTTPS"], ["nobody.other.test", "A"], ["long.other.test", "TXT"],
                ["www.other.test", "ANY"],
            ],
            [
                [], ["+tcp"], ["+noedns"], ["+bufsize=4096"], ["+dnssec"], ["+nsid", "+cookie=0102030405060708"],
                ["+cdflag"],
            ])
        func equal(question: [String], options: [String]) throws {
            let lab = try Lab()
            let resolver = try startResolver(lab)
            let daemon = try Daemon(lab, settings(lab))
            let expected = try dig(lab, .gateway, ["@\(Self.resolver)"] + options + question)
            let answer = try dig(lab, .device, ["@10.9.0.1"] + options + question)
            #expect(answer == expected, "\(daemon.program.errors)")
            let again = try dig(lab, .device, ["@fd00:9::1"] + options + question)
            #expect(again == expected)
            withExtendedLifetime(resolver) {}
        }

        /// Nothing about a proxied name reaches a resolver (B083, B084), over any transport.
        @Test("proxied names never leave")
        func proxiedNamesStay() throws {
            let lab = try Lab()
            let resolver = try startResolver(lab)
            let daemon = try Daemon(lab, settings(lab))
            for type in ["A", "AAAA", "HTTPS", "SVCB", "TXT", "MX", "ANY", "TYPE65280", "NS"] {
                for options in [[], ["+tcp"], ["+dnssec"]] {
                    let answer = try dig(lab, .device, ["@10.9.0.1", "WWW.proxied.TEST", type] + options)
                    #expect(answer[0].contains("NOERROR"), "\(answer) \(daemon.program.errors)")
                    #expect(answer.count == (type == "A" ? 2 : 1), "\(answer)")
                    if type == "A" { #expect(answer[1].contains("198.18.0.16"), "\(answer)") }
                }
            }
            let reverse = try lab.run(.device, ["dig", "@10.9.0.1", "+short", "-x", "198.18.0.16"])
            #expect(reverse.output == "www.proxied.test.\n")
            _ = try dig(lab, .device, ["@10.9.0.1", "www.other.test", "A"])
            #expect(Lab.wait { resolver.errors.contains("www.other.test") || resolver.output.contains("www.other") })
            #expect(!(resolver.errors + resolver.output).lowercased().contains("query[a] www.proxied"))
            #expect(!(resolver.errors + resolver.output).lowercased().contains("proxied.test from"))
        }

        /// The device's own resolver setting does not matter: what goes to any address reaches the service.
        @Test("questions to any server through the tunnel are answered", arguments: [[], ["+tcp"]])
        func anyServer(options: [String]) throws {
            let lab = try Lab()
            let resolver = try startResolver(lab)
            let daemon = try Daemon(lab, settings(lab))
            for server in ["198.51.100.99", "2001:db8:51::99"] {
                let answer = try dig(lab, .device, ["@\(server)", "www.proxied.test", "A"] + options)
                #expect(answer.last?.contains("198.18.0.16") == true, "\(answer) \(daemon.program.errors)")
            }
            withExtendedLifetime(resolver) {}
        }

        @Test("a dead resolver is told at once, and its return is noticed")
        func deadResolver() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab, settings(lab))
            for name in ["a.other.test", "b.other.test", "c.other.test"] {
                let answer = try dig(lab, .device, ["@10.9.0.1", name, "A"])
                #expect(answer[0].contains("SERVFAIL"), "\(answer) \(daemon.program.errors)")
            }
            let resolver = try startResolver(lab)
            let isBack = try Lab.wait {
                try dig(lab, .device, ["@10.9.0.1", "www.other.test", "A"])[0].contains("NOERROR")
            }
            #expect(isBack, "\(daemon.program.errors)")
            #expect(daemon.events("dns-resolver-alive").count == 1)
            withExtendedLifetime(resolver) {}
        }
    }
}
