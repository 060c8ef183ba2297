/// How a device gets the certificate of mitmproxy: from mitmproxy itself, through the gateway, in both modes.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite(
        "certificates",
        .enabled(if: RouteLab.isPossible && Upstream.mitmproxy.isAvailable && Lab.has("curl") && Lab.has("openssl")))
    struct CertificateTests {
        /// A gateway in front of mitmproxy; without domains it is in global mode.
        private static func settings(_ lab: RouteLab, _ domains: [String]) -> Daemon.Settings {
            var settings = lab.settings()
            settings.profile = "domains: [\(domains.map { "\"\($0)\"" }.joined(separator: ", "))]"
            settings.upstream = Daemon.Settings.http(
                Upstream.mitmproxy.port, "kind: \"mitmproxy\", http80: \"connect\"")
            return settings
        }

        /// What openssl says of a certificate's file.
        private static func shown(_ lab: Lab, _ file: String, _ option: String) throws -> String {
            let line = try lab.run(.gateway, ["openssl", "x509", "-noout", option, "-sha256", "-in", file]).output
            return line.split(separator: "=", maxSplits: 1).last.map { String($0).filter { !$0.isNewline } } ?? ""
        }

        @Test(
            "mitm.it gives a device mitmproxy's own certificate, and starshipctl its fingerprint",
            arguments: [
                ["web.example"], [],
            ])
        func fetched(domains: [String]) throws {
            let lab = try RouteLab()
            let proxy = try Upstream.mitmproxy.start(in: lab.lab)
            let daemon = try lab.start(Self.settings(lab, domains))
            let file = "\(lab.lab.directory.path)/mitm/mitmproxy-ca-cert.pem"

            let address = try lab.address(of: "mitm.it")
            #expect(address.hasPrefix("198.18."), "a fake address: \(address)")
            let curl = [
                "curl", "-sS", "--max-time", "10", "--resolve", "mitm.it:80:\(address)", "http://mitm.it/cert/pem",
            ]
            let fetched = try lab.lab.run(.device, curl)
            let own = try String(contentsOfFile: file, encoding: .utf8)
            #expect(fetched.output == own, "\(fetched.errors) \(proxy.errors)")
            #expect(
                daemon.flow(with: ["target=mitm.it:80", "rule=\"certificate hosts of mitmproxy: mitm.it\""]),
                "\(daemon.events("flow"))")

            let copy = "\(lab.lab.directory.path)/copy.pem"
            let control = ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab.lab)]
            let told = try lab.lab.run(.gateway, control + ["ca", "lab", "--out", copy])
            #expect(told.status == 0, "\(told.errors)")
            #expect(told.output.contains(try Self.shown(lab.lab, file, "-fingerprint")), "\(told.output)")
            #expect(try String(contentsOfFile: copy, encoding: .utf8) == own)
            let explained = try lab.lab.run(.gateway, control + ["explain", "mitm.it:80"])
            #expect(explained.output.contains("certificate hosts of mitmproxy: mitm.it"), "\(explained.output)")
        }

        @Test("a proxy that is none of those that decrypt is asked for no certificate")
        func plain() throws {
            let lab = try RouteLab()
            let daemon = try lab.start(lab.settings("web.example"))
            let control = ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab.lab), "ca", "lab"]
            let told = try lab.lab.run(.gateway, control)
            #expect(told.status == 1 && told.errors.contains("expected `kind` to be one of"), "\(told.errors)")
            #expect(!(try lab.address(of: "mitm.it")).hasPrefix("198.18."))
            #expect(daemon.isRunning)
        }
    }
}
