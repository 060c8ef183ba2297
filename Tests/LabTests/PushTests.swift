/// Pushes: whole or not at all, taken back by themselves, signed over the network.

import Foundation
import TestSupport
import Testing

/// A gateway without devices: pushes are about what it is told, and what it keeps.
private struct PushLab {
    let lab: Lab
    let daemon: Daemon

    init(more: String = "") throws {
        let lab = try Lab()
        daemon = try Daemon(lab, Self.settings(lab, more), routed: false)
        self.lab = lab
    }

    static func settings(_ lab: Lab, _ more: String = "") -> Daemon.Settings {
        var settings = Daemon.Settings()
        settings.more = "clock: \"trust\", gateway: \"lab-1\", \(more)"
        settings.upstream = Daemon.Settings.http(Upstream.embedded.port)
        return settings
    }

    var socket: String { Daemon.socket(lab) }

    func control(_ arguments: String...) throws -> LabProgram.Result {
        try lab.run(.gateway, ["\(Lab.binaries)/starshipctl", "--socket", socket] + arguments)
    }

    func api(_ arguments: String..., within seconds: Double = 60) throws -> String {
        try lab.program(.gateway, ["api.py"] + arguments, within: seconds)
    }

    func file(_ name: String, _ text: String) throws -> String {
        let file = lab.directory.appending(path: name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }
}

extension LabTests {
    @Suite("pushing")
    struct PushTests {
        // B164, B215.
        @Test("thirty broken pushes change nothing and say why, also over a restart")
        func refusesBroken() throws {
            let push = try PushLab()
            #expect(try push.api("broken", push.socket).hasSuffix(" refused\n"))
            #expect(!push.daemon.program.errors.contains("S3cr3t-Zq"))
            let before = try push.api("call", push.socket, "GET", "/v1/export")
            #expect(try push.daemon.stop() == 0)
            let again = try Daemon(push.lab, PushLab.settings(push.lab), routed: false)
            #expect(try push.api("call", push.socket, "GET", "/v1/export") == before)
            #expect(again.isRunning)
        }

        @Test("a push whose upstream is dead is back on the old one when nobody has confirmed it")
        func takesBack() throws {
            let push = try PushLab()
            let file = try push.file(
                "dead.json5",
                "{ profiles: [{ id: \"dead\", upstream: { type: \"http\", host: \"10.77.0.2\", port: 9 } }], active: \"dead\" }"
            )
            let pushed = Stopwatch()
            let result = try push.control("push", file, "--confirm", "5")
            #expect(result.status == 0, "\(result)")
            #expect(try push.api("call", push.socket, "GET", "/v1/status").contains("\"id\":\"dead\""))
            sleep(3)
            // A machine that has let the five seconds pass meanwhile has nothing to say about them.
            let isOn = try push.api("call", push.socket, "GET", "/v1/status").contains("\"id\":\"dead\"")
            #expect(isOn || pushed.wholeSeconds > 5)
            #expect(
                try Lab.wait(promised: 4) {
                    try push.api("call", push.socket, "GET", "/v1/status").contains("\"profile\":{\"id\":\"lab\"")
                })
            // Without a confirmation the trial alone decides: TCP to port 9 is refused.
            #expect(try push.control("push", file).status == 0)
            #expect(
                try Lab.wait(promised: 5) {
                    try push.api("call", push.socket, "GET", "/v1/status").contains("\"profile\":{\"id\":\"lab\"")
                })
            #expect(push.daemon.events("trial").contains { $0.contains("profile=dead") })
        }

        @Test("kill -9 at random moments of 200 pushes leaves a store that starts with the old or the new revision")
        func survivesKills() throws {
            let lab = try Lab()
            let settings = PushLab.settings(lab)
            var random = SystemRandomNumberGenerator()
            var last = 0
            for _ in 0..<LongRun.rounds(25, long: 200) {
                let daemon = try Daemon(lab, settings, routed: false)
                let socket = Daemon.socket(lab)
                let said = try lab.program(.gateway, ["api.py", "call", socket, "GET", "/v1/history"])
                let text = said.drop { $0 != "{" }
                let history = try JSONDecoder().decode(History.self, from: Data(text.utf8))
                #expect(history.current == last || history.current == last + 1, "\(last) \(said)")
                let pushes = try lab.start(.gateway, Lab.python(["api.py", "push", socket, "8"]))
                try pushes.waitFor("pushing", within: 20)
                usleep(UInt32.random(in: 0..<150_000, using: &random))
                daemon.program.signal(.kill)
                _ = try daemon.program.wait(within: 20)
                _ = try pushes.wait(within: 20)
                let done = pushes.output.split(separator: "\n").last?.split(separator: " ").first.flatMap { Int($0) }
                last = done ?? history.current
            }
            #expect(last > 0, "no push came through")
        }

        private struct History: Decodable { var current: Int }

        // B166.
        @Test("reloads refuse no connection, and one with an occupied port is refused itself")
        func reloads() throws {
            let push = try PushLab()
            let clients = try push.lab.start(
                .gateway, Lab.python(["api.py", "knock", Lab.socksAddress, "\(Lab.socksPort)", "4"]))
            try clients.waitFor("knocking")
            for _ in 0..<20 { #expect(try push.control("reload").status == 0) }
            let answer = try clients.wait(within: 30)
            #expect(answer.output.contains(" 0 refused"), "\(answer.output)")
            let squatter = try push.lab.start(
                .gateway,
                [
                    "/usr/bin/python3", "-c",
                    "import socket,time; s=socket.create_server(('10.9.0.1',1081)); print('there',flush=True); time.sleep(20)",
                ])
            try squatter.waitFor("there")
            var settings = PushLab.settings(push.lab, "http: { listen: \"10.9.0.1:1081\", allow: [\"10.9.0.0/24\"] },")
            settings.limits = "idle: \"1h\""
            try Daemon.write(settings, push.lab)
            let refused = try push.control("reload")
            #expect(refused.status == 1 && refused.errors.contains("1081"), "\(refused)")
            let knock = try push.lab.program(.gateway, ["api.py", "knock", Lab.socksAddress, "\(Lab.socksPort)", "1"])
            #expect(knock.contains(" 0 refused"))
        }

        // B212.
        @Test("over the network only what is signed is heard, each signature once")
        func hearsSigned() throws {
            let lab = try Lab()
            let key = lab.directory.appending(path: "key")
            try String(repeating: "5a", count: 32).write(to: key, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
            let settings = PushLab.settings(
                lab,
                """
                push: { listen: "10.9.0.1:10801", allow: ["10.9.0.0/24"] },
                keys: [{ id: "ci", file: "\(key.path)", scope: ["push"] }],
                """)
            let daemon = try Daemon(lab, settings, routed: false)
            func sign(_ method: String, _ path: String, _ body: String, _ changes: String...) throws -> String {
                try lab.run(
                    .device,
                    ["env"] + changes
                        + Lab.python([
                            "api.py", "sign", "lab-1", "ci", key.path, "10.9.0.1", "10801", method, path, body,
                        ])
                ).output
            }
            let profile = "{\"upstream\":{\"type\":\"http\",\"host\":\"10.77.0.2\",\"port\":8080}}"
            #expect(try sign("GET", "/v1/status", "").hasPrefix("200 "))
            let nonce = "NONCE=0123456789abcdef"
            #expect(try sign("PUT", "/v1/profiles/pushed?confirm=60", profile, nonce).hasPrefix("201 "))
            #expect(try sign("PUT", "/v1/profiles/pushed?confirm=60", profile, nonce).hasPrefix("403 "))
            #expect(
                try sign("GET", "/v1/status", "", "STAMP=\(Int(Date().timeIntervalSince1970) - 90)").hasPrefix("403 "))
            #expect(
                try sign("GET", "/v1/status", "", "SIGNATURE=\(String(repeating: "A", count: 43))").hasPrefix("403 "))
            #expect(try sign("PUT", "/v1/profiles/other", profile, "BODY=\(profile) ").hasPrefix("403 "))
            let curl = ["curl", "-s", "-o", "/dev/null", "-D", "-", "-H", "Origin: https://evil.example.test"]
            for (method, path) in [
                ("GET", "/v1/status"), ("POST", "/v1/config"), ("OPTIONS", "/v1/config"),
                ("PUT", "/v1/config/..%2f..%2fetc%2fx"),
            ] {
                let head = try lab.run(.device, curl + ["-X", method, "http://10.9.0.1:10801\(path)"]).output
                #expect(head.hasPrefix("HTTP/1.1 40"), "\(method) \(head)")
                #expect(!head.lowercased().contains("access-control"))
            }
            #expect(daemon.isRunning)
        }
    }
}
