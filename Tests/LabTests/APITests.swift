/// The control API held to its description by a program that knows nothing else of it, and to HTTP by one that keeps to
/// no rule.

import Foundation
import TestSupport
import Testing

/// A gateway with everything that the API speaks of: profiles for everybody, keys, a device.
private struct APILab {
    let lab: Lab
    let daemon: Daemon

    init() throws {
        let lab = try Lab()
        let key = lab.directory.appending(path: "key")
        try String(repeating: "5a", count: 32).write(to: key, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
        var settings = Daemon.Settings()
        settings.upstream = Daemon.Settings.http(Upstream.embedded.port)
        settings.profile = "selfService: true"
        settings.profiles = """
            { id: "staging", selfService: true, domains: ["example.com"],
              upstream: { type: "socks5", host: "10.77.0.2", port: 1080 } }
            """
        settings.more = """
            push: { listen: "\(Self.push)", allow: ["10.9.0.0/24"] },
            clock: "trust", gateway: "lab-1", keys: [{ id: "qa", file: "\(key.path)", scope: ["links", "push"] }],
            devices: [{ name: "pixel-7", address: "10.9.0.7" }],
            """
        // It is looked for beside the configuration.
        let place = lab.directory.appending(path: "openapi.json")
        try FileManager.default.copyItem(at: Self.description, to: place)
        daemon = try Daemon(lab, settings, routed: false)
        self.lab = lab
    }

    var socket: String { Daemon.socket(lab) }

    static let push = "10.9.0.1:10801"
    static let description = Lab.sources.appending(path: "Configs/openapi.json")

    /// Schemathesis, which Debian doesn't have: `scripts/test` gets it from PyPI.
    static let fuzzer = Lab.sources.appending(path: ".build/venv/bin/schemathesis").path
    static let hasFuzzer = FileManager.default.isExecutableFile(atPath: fuzzer)
}

extension LabTests {
    @Suite("the control API")
    struct APITests {
        // B212, B215.
        @Test(
            "Schemathesis finds no request whose answer is not as Configs/openapi.json says",
            .enabled(if: APILab.hasFuzzer || Lab.isRequired, "scripts/test could not get Schemathesis from PyPI"))
        func keepsToItsDescription() throws {
            let api = try APILab()
            let result = try api.lab.run(
                .gateway,
                Lab.python([
                    "api_fuzz.py", APILab.fuzzer, api.socket, APILab.description.path, "20261201",
                    "\(LongRun.rounds(6, long: 200))",
                ]), within: LongRun.isOn ? 1800 : 120)
            #expect(result.status == 0, "\(result.output.suffix(8000)) \(result.errors.suffix(2000))")
            #expect(api.daemon.isRunning)
            #expect(!api.daemon.program.errors.contains("5a5a5a5a"))
        }

        // B212.
        @Test("no client of the control socket harms the gateway or another client, whatever it sends or does not read")
        func bearsHostileClients() throws {
            let api = try APILab()
            let result = try api.lab.run(
                .gateway, Lab.python(["api_hostile.py", api.socket, "\(api.daemon.program.pid)", APILab.push]),
                within: 100)
            #expect(result.status == 0, "\(result.output) \(result.errors.suffix(4000))")
            #expect(result.output.hasSuffix("still serves\n"))
            #expect(api.daemon.isRunning)
            #expect(try api.daemon.stop() == 0)
        }
    }
}
