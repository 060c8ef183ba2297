/// Exit codes that `StartupTests` leaves out: each by the real program, with what really stands in its way.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("exit codes of starts", .enabled(if: Lab.has("prlimit")))
    struct ExitCodeTests {
        /// One thing that stands in the way, the code, and what has to be said.
        struct Obstacle: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let code: Int32
            let words: [String]
            var put: @Sendable (inout Daemon.Settings, Lab) throws -> Void

            init(
                _ name: String, _ code: Int32, _ words: String...,
                put: @escaping @Sendable (inout Daemon.Settings, Lab) throws -> Void
            ) {
                (testDescription, self.code, self.words, self.put) = (name, code, words, put)
            }
        }

        /// What stands before a program that has mounts of its own.
        private static func mounting(_ command: String) -> [String] {
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\(command) && exec \"$@\"", "sh"]
        }

        private static func write(_ text: String, to name: String, of lab: Lab) throws {
            let file = lab.directory.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: false, encoding: .utf8)
        }

        static let obstacles = [
            Obstacle("no descriptor for its companion", 71, "Too many open files", "LimitNOFILE") { settings, _ in
                // With one for the linker of libraries; what the tests happen to have open is not handed on.
                let closing = "for f in /proc/self/fd/*; do n=${f##*/}; ((n < 3)) || eval \"exec $n>&-\"; done"
                settings.wrapper = ["bash", "-c", "\(closing); exec prlimit --nofile=4:4 \"$@\"", "bash"]
            },
            Obstacle("too few descriptors", 71, "Too many open files", "LimitNOFILE") { settings, _ in
                settings.wrapper = ["prlimit", "--nofile=14:14"]
            },
            Obstacle("a file that is none of ours where the state is kept", 81, "/state/lab", "`state`") {
                _, lab in try write("not ours\n", to: "state/lab", of: lab)
            },
            Obstacle("answers for phones without their lists", 82, "phones.lists", "connectivity") { settings, _ in
                settings.more += "phones: { connectivity: \"answer\" },"
            },
            Obstacle("notes of a former run that nobody can read", 92, "network.state", "sudo rm") { _, lab in
                try write("nonsense\n", to: "run-gateway/network.state", of: lab)
            },
            // No kernel can be had here that is without what this one has, so its words are said in its place.
            Obstacle("a kernel that takes no such firewall", 92, "Operation not supported", "starshipd cleanup") {
                settings, lab in
                let places = "/usr/sbin:/usr/bin:/sbin:/bin"
                let words = "/dev/stdin:1:1-1: Error: Could not process rule: Operation not supported"
                try write(
                    """
                    #!/bin/sh
                    case "$*" in *-f*) cat >/dev/null; echo '\(words)' >&2; exit 1;; esac
                    PATH=\(places) exec nft "$@"

                    """, to: "tools/nft", of: lab)
                let tools = lab.directory.appending(path: "tools").path
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(tools)/nft")
                settings.wrapper = ["env", "PATH=\(tools):\(places)"]
            },
        ]

        private static func settings() -> Daemon.Settings {
            Daemon.Settings {
                $0.network = "setup: \"gateway\", lan: [\"lan\"]"
                $0.more = "dns: { resolvers: [\"10.77.0.2:53\"] },"
            }
        }

        @Test(
            "a start that is hindered ends with the code of what hinders it, says so in one line, and leaves nothing",
            arguments: obstacles)
        func ends(obstacle: Obstacle) throws {
            let lab = try Lab()
            var settings = Self.settings()
            try obstacle.put(&settings, lab)
            let result = try Daemon.launch(lab, settings).wait(within: 60)
            #expect(result.status == obstacle.code, "\(result)")
            let lines = result.errors.split(separator: "\n").filter { !$0.hasPrefix("event=") }
            #expect(lines.count == 1 && lines[0].hasPrefix("starshipd: "), "\(result.errors)")
            for words in obstacle.words { #expect(result.errors.contains(words), "\(result.errors)") }
            #expect(!result.errors.contains("event=ready"))
            #expect(try lab.run(.gateway, ["ip", "link", "show", "starship0"]).status != 0)
            #expect(try !lab.run(.gateway, ["nft", "list", "tables"]).output.contains("starship"))
            #expect(try !lab.run(.gateway, ["ip", "rule"]).output.contains("10801"))
        }

        @Test("settings that may not be written are told by a code of their own, and none is half made")
        func settingsRefused() throws {
            let lab = try Lab()
            let settings = Self.settings()
            try Daemon.write(settings, lab)
            try lab.run(.gateway, ["sysctl", "-qw", "net.ipv4.ip_forward=0"])
            let command = [
                "\(Lab.binaries)/starshipd", "settings", "--config", "\(lab.directory.path)/starshipd.json5",
            ]
            // What the step remembers stands beside /run/starship, where any other gateway's clean-up would find it.
            let apart = "mount -t tmpfs tmpfs /run"
            let locked = Self.mounting(
                "\(apart) && mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys")
            let refused = try lab.run(.gateway, locked + command)
            #expect(refused.status == 94, "\(refused)")
            let words = ["/proc/sys/net/", "Read-only file system", "sudo starshipd settings"]
            for words in words { #expect(refused.errors.contains(words), "\(refused)") }
            #expect(refused.errors.split(separator: "\n").count == 1, "\(refused)")
            func forwarding() throws -> String {
                try lab.run(.gateway, ["sysctl", "-n", "net.ipv4.ip_forward"]).output
            }
            #expect(try forwarding() == "0\n")
            let made = try lab.run(.gateway, Self.mounting(apart) + command)
            #expect(try made.status == 0 && forwarding() == "1\n", "\(made)")
        }
    }
}
