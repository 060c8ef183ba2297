/// What runs out while the gateway runs: descriptors, memory, the disk.

import Foundation
import TestSupport
import Testing

/// A control group with a bound on memory, of whichever version the machine has; gone with the value.
private final class MemoryGroup {
    let path: String

    /// Nil where the machine lets us make none.
    init?(limit: Int) {
        let name = "starship-test-\(ProcessInfo.processInfo.processIdentifier)"
        for (root, file) in [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"),
        ] {
            let path = "\(root)/\(name)"
            guard unsafe mkdir(path, 0o755) == 0 else { continue }
            if (try? "\(limit)".write(toFile: "\(path)/\(file)", atomically: false, encoding: .utf8)) != nil {
                self.path = path
                return
            }
            _ = unsafe rmdir(path)
        }
        return nil
    }

    deinit {
        // The kernel lets go of a group a moment after its last process.
        let path = path
        _ = Lab.wait { unsafe rmdir(path) == 0 }
    }

    static let isPossible = MemoryGroup(limit: 64 << 20) != nil

    /// What has a program run in it.
    ///
    /// `ip netns exec` has a /sys of its own, in which there are no groups: this goes back.
    var wrapper: [String] {
        let mounts = "--mount=/proc/\(ProcessInfo.processInfo.processIdentifier)/ns/mnt"
        return ["nsenter", mounts, "sh", "-c", "echo $$ >\(path)/cgroup.procs && exec \"$0\" \"$@\""]
    }
}

extension LabTests {
    @Suite("resources that run out", .enabled(if: EnduranceLab.isPossible))
    struct ResourceFaultTests {
        @Test("descriptors are taken away at run time: flows are refused, everything else goes on, and it recovers")
        func descriptors() throws {
            let endurance = try EnduranceLab(domains: nil)
            let daemon = endurance.daemon
            let echo = try endurance.lab.start(.origin, Lab.python(["load.py", "serve", "198.51.100.14", "7000"]))
            try endurance.lab.waitForPort(7000, of: "198.51.100.14")
            #expect(try endurance.becomes("green"))
            let kept = try endurance.assign()
            let before = daemon.descriptors
            let limit = before + 60
            try endurance.lab.run(
                .gateway, ["prlimit", "--pid", "\(daemon.program.pid)", "--nofile=\(limit):\(limit)"])
            let holding = try endurance.lab.start(
                .device, Lab.python(["load.py", "hold", "198.51.100.14", "7000", "150", "6"]))
            try holding.waitFor("\"open\"", within: 20)
            // As many as can be have a flow; what is not a flow has what it needs.
            #expect(daemon.descriptors <= limit - 8)
            let cpu = daemon.cpuSeconds
            #expect(try endurance.answer(of: "late.outside.net") != "nothing")
            #expect(try endurance.answer(of: "late.outside.net", "+tcp") != "nothing")
            #expect(try endurance.kept() == kept)
            #expect(try endurance.control("use", "other", "--device", "10.9.0.2").status == 0)
            #expect(try endurance.limit("descriptors").hits > 0)
            #expect(try endurance.limit("descriptors").bound == limit)
            #expect(daemon.events("descriptor-limit").contains { $0.contains("level=warning") })
            #expect(daemon.events("descriptor-limit").count <= 2, "it is not said again and again")
            #expect(try endurance.colour() == "green")
            #expect(daemon.cpuSeconds - cpu < 0.5, "no busy loop")
            let result = try holding.wait(within: 30)
            #expect(result.output.contains("\"refused\""), "\(result.output)")
            #expect(try daemon.snapshot(within: 10) { $0["flows"] == 0 }["flows"] == 0)
            #expect(try Lab.wait { try endurance.pageComes() })
            #expect(Lab.wait { daemon.descriptors <= before + 2 })
            // The switch has been kept.
            daemon.program.end(.kill)
            try endurance.restart()
            #expect(try endurance.assigned() == 2)
            withExtendedLifetime(echo) {}
        }

        /// Forty uploads whose server reads nothing would keep 160 MiB by the bound of each flow alone.
        @Test(
            "a control group's bound on memory is what buffers are reckoned from, and many stalled uploads keep to it",
            .enabled(if: MemoryGroup.isPossible, "no control group with a limit on memory can be made"))
        func memory() throws {
            let group = try #require(MemoryGroup(limit: 64 << 20))
            let endurance = try EnduranceLab(domains: nil) { settings in
                settings.wrapper = group.wrapper
                settings.upstream = Daemon.Settings.http(Upstream.embedded.port)
            }
            let proxy = try Upstream.embedded.start(in: endurance.lab)
            let server = try endurance.lab.start(
                .origin, Lab.python(["stall.py", "serve", "198.51.100.14", "7000", "6"]))
            try server.waitFor("ready")
            #expect(try endurance.limit("buffers").bound == 16 << 20)
            let before = try endurance.assign()
            let uploads = try endurance.lab.start(
                .device, Lab.python(["stall.py", "upload", "198.51.100.14", "7000", "40", "\(6 << 20)"]))
            var most = 0
            _ = Lab.wait(5) {
                most = max(most, endurance.daemon.residentKiB)
                return false
            }
            #expect(try endurance.limit("buffers").used <= 16 << 20)
            #expect(most < 60 << 10)
            // Windows close before there is no room, so the bound is not always reached; what is, is counted, said and
            // shown, and not again and again.
            let (hits, said) = (try endurance.limit("buffers").hits, endurance.daemon.events("buffer-limit"))
            #expect((hits > 0) == !said.isEmpty && said.count <= 2, "\(hits) hits, \(said)")
            #expect(said.allSatisfy { $0.contains("level=warning") }, "\(said)")
            let card = try endurance.control("status").output
            #expect(hits == 0 || card.contains(/limit +buffers/), "\(card)")
            #expect(try endurance.kept() == before)
            #expect(try endurance.pageComes(at: "198.51.100.10"), "others get through meanwhile")
            let result = try uploads.wait(within: 120)
            #expect(result.output == "{\"right\": 40}\n", "\(result)")
            #expect(endurance.daemon.isRunning)
            #expect(try endurance.daemon.snapshot(within: 10) { $0["flows"] == 0 }["buffer_bytes_used"] == 0)
            #expect(try endurance.kept() == before)
            #expect(try endurance.keptByRestart() == before)
            withExtendedLifetime((proxy, group)) {}
        }

        /// The state's place, in a mount namespace of its own: 128 KiB.
        private struct SmallDisk {
            let holder: LabProgram
            /// Where its files are seen from outside.
            let root: String

            init(_ lab: Lab) throws {
                let place = "\(lab.directory.path)/state"
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                let script = "mount -t tmpfs -o size=128k tmpfs \(place) && echo mounted && exec sleep 600"
                holder = try lab.start(.gateway, ["sh", "-c", script])
                try holder.waitFor("mounted")
                root = "/proc/\(holder.pid)/root\(place)"
            }

            var wrapper: [String] { ["nsenter", "--mount=/proc/\(holder.pid)/ns/mnt"] }

            func fill() {
                let file = FileManager.default.createFile(atPath: "\(root)/filler", contents: nil)
                guard file, let handle = FileHandle(forWritingAtPath: "\(root)/filler") else { return }
                while (try? handle.write(contentsOf: Data(repeating: 0x2e, count: 512))) != nil {}
                try? handle.close()
            }

            func makeRoom() throws { try FileManager.default.removeItem(atPath: "\(root)/filler") }
        }

        @Test("on a full disk a switch is refused with its cause, what was kept stays whole, and with room it goes on")
        func fullDisk() throws {
            var disk: SmallDisk?
            let routes = try RouteLab()
            let small = try SmallDisk(routes.lab)
            disk = small
            var settings = routes.settings("example")
            settings.wrapper = small.wrapper
            settings.profiles =
                "{ id: \"other\", upstream: \(Daemon.Settings.http(Upstream.tinyproxy.port)), domains: [\"example\"] }"
            func control(_ arguments: String...) throws -> LabProgram.Result {
                try routes.lab.run(
                    .gateway, ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(routes.lab)] + arguments)
            }
            func profile() throws -> String {
                try control("status", "--json").output.firstMatch(of: /"profile":\{"id":"([a-z]+)"/).map {
                    String($0.output.1)
                } ?? "none"
            }
            var daemon = try routes.start(settings)
            #expect(try control("use", "other", "--all").status == 0)
            let fake = try routes.address(of: "web.example")
            small.fill()
            let refused = try control("use", "lab", "--all")
            #expect(refused.status == 1 && refused.errors.contains("No space left on device"), "\(refused)")
            #expect(refused.errors.contains("what was running goes on"), "\(refused)")
            #expect(try profile() == "other")
            #expect(try routes.page("web.example", at: fake) == "\(RouteLab.proxied) web.example")
            // A start on the full disk has what was kept, and says what it can't do.
            daemon.program.end(.kill)
            daemon = try routes.start(settings)
            #expect(try profile() == "other")
            #expect(daemon.program.errors.contains("No space left on device"), "\(daemon.program.errors)")
            #expect(try routes.page("web.example", at: fake) == "\(RouteLab.proxied) web.example")
            try small.makeRoom()
            #expect(try control("use", "lab", "--all").status == 0)
            daemon.program.end(.kill)
            daemon = try routes.start(settings)
            #expect(try profile() == "lab")
            withExtendedLifetime(disk) {}
            disk = nil
        }
    }
}
