/// `starshipctl report` on a gateway with secrets wherever one may stand.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("report", .enabled(if: RouteLab.isPossible))
    struct ReportLabTests {
        /// Each is found nowhere else, and each is planted at another place.
        private static let planted = [
            "pw-upstream-81f3", "pw-inbound-c2aa", "pw-comment-9d01", "tok-health-55be", "tok-pushed-7e1c",
            "tok-journal-3b9f", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
            // qa:pw-upstream-81f3, as it goes over the wire.
            "cWE6cHctdXBzdHJlYW0tODFmMw==",
        ]

        private func secret(_ name: String, _ text: String, _ lab: Lab) throws -> String {
            let path = "\(lab.directory.path)/\(name)"
            try "\(text)\n".write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            return path
        }

        private func gateway(_ route: RouteLab) throws -> Daemon {
            let lab = route.lab
            let password = try secret("qa.pw", Self.planted[0], lab)
            let inbound = try secret("in.pw", Self.planted[1], lab)
            let key = try secret("beetle", Self.planted[6], lab)
            var settings = route.settings(
                "web.example",
                more: """
                    // the old password was \(Self.planted[2])
                    clock: "trust", keys: [{ id: "beetle", file: "\(key)", scope: ["links", "push"] }],
                    devices: [{ name: "pixel-of-kim", mac: "3c:28:6d:12:34:56" }],
                    """)
            settings.upstream = Daemon.Settings.http(8888, "user: \"qa\", passwordFile: \"\(password)\"")
            settings.socks = "users: [{ name: \"in\", passwordFile: \"\(inbound)\" }]"
            settings.isProbed = true
            settings.profile +=
                ", health: { url: \"http://web.example/ok?token=\(Self.planted[3])\", interval: \"1h\" }"
            return try route.start(settings)
        }

        @Test("none of the secrets is in it, and what helps is", arguments: [false, true])
        func report(isAnonymous: Bool) throws {
            let route = try RouteLab()
            let lab = route.lab
            let daemon = try gateway(route)
            let pushed = """
                { id: "pushed", name: "Pushed", upstream: { type: "http", host: "10.77.0.2", port: 8888 },
                  health: { url: "http://web.example/?key=\(Self.planted[4])" } }
                """
            let control = ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab)]
            let push = try lab.run(.gateway, control + ["push", "-"], input: pushed)
            #expect(push.status == 0, "\(push.errors)")
            // A journal that somebody's own script has written into.
            let tools = "\(lab.directory.path)/tools"
            try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
            let said = """
                #!/bin/sh
                echo 'starshipd[1]: event=ready'
                echo 'script[2]: Proxy-Authorization: Basic \(Self.planted[7])'
                echo 'script[2]: fetched http://qa:\(Self.planted[0])@10.77.0.2:8888/?auth=\(Self.planted[5]) for pixel-of-kim'
                echo 'script[2]: key \(Self.planted[6]) of 3c:28:6d:12:34:56 at 93.184.216.34'
                """
            try said.write(toFile: "\(tools)/journalctl", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(tools)/journalctl")

            let file = "\(lab.directory.path)/report.txt"
            let path = ["env", "PATH=\(tools):/usr/sbin:/usr/bin:/sbin:/bin"]
            let arguments = ["report", "--output", file, "--config", "\(lab.directory.path)/starshipd.json5"]
            let result = try lab.run(
                .gateway, path + control + arguments + (isAnonymous ? ["--anonymous"] : []), within: 60)
            #expect(result.status == 0, "\(result.errors)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            for secret in Self.planted { #expect(!text.contains(secret), "\(secret)") }

            for part in [
                "== doctor ==", "== configuration:", "\"passwordFile\"", "== status ==", "== devices ==", "== rules ==",
                "198.18.0.0/15 dev starship0 proto 198", "table inet starship", "== last events ==", "== journal ==",
                "event=ready",
                "\"pushed\"",
            ] {
                #expect(text.contains(part), "\(part)")
            }
            for name in ["pixel-of-kim", "3c:28:6d:12:34:56", "93.184.216.34"] {
                #expect(text.contains(name) == !isAnonymous, "\(name)")
            }
            if isAnonymous {
                #expect(text.contains("device-1") && text.contains("mac-") && text.contains("public-address-"))
            }
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let again = try lab.run(.gateway, control + arguments)
            #expect(again.status == 1 && again.errors.contains("expected a new name"))
            #expect(daemon.isRunning)
        }
    }
}
