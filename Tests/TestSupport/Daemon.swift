/// `starshipd` in the lab's gateway namespace: its configuration, its log, its counters and what it uses.

import Foundation

public final class Daemon {
    /// The parts of the configuration that tests change; texts are JSON5.
    public struct Settings {
        public var workers = 1
        /// Of the TUN device.
        public var mtu = 1500
        public var offload = true
        public var upstream = Settings.http(ScriptedProxy.port)
        /// Keys of `network`.
        public var network = "setup: \"none\""
        /// Further profiles behind the active one, `lab`.
        public var profiles = ""
        /// Further keys of the profile.
        public var profile = ""
        /// Scripted upstreams count their connections, so nobody probes unless a test is about that.
        public var isProbed = false
        /// Keys of `socks` behind `listen` and `allow`.
        public var socks = ""
        public var limits = ""
        /// Further keys at the top of the file, each ending in a comma.
        public var more = ""
        /// Programs in front of the daemon, such as `prlimit`, and arguments behind its configuration.
        public var wrapper: [String] = []
        public var arguments: [String] = []

        /// Where the control socket and the lab's state are; `write` sets both to places in the lab's directory.
        var socket = ""
        var state = ""

        public init() {}

        public init(_ change: (inout Settings) -> Void) { change(&self) }

        /// An HTTP proxy in the internet namespace, with further keys of the upstream.
        public static func http(_ port: Int, _ more: String = "") -> String {
            "{ type: \"http\", host: \"\(Upstream.address)\", port: \(port)\(more.isEmpty ? "" : ", ")\(more) }"
        }

        var text: String {
            """
            {
              tun: { name: "starship0", mtu: \(mtu), workers: \(workers), offload: \(offload ? "\"full\"" : "\"none\"") },
              network: { \(network) },
              socks: { listen: "\(Lab.socksAddress):\(Lab.socksPort)", allow: ["10.9.0.0/24"], \(socks) },
              limits: { \(limits) },
              log: { flows: "all" },
              control: { socket: "\(socket)" },
              \(more.contains("state:") ? "" : "state: \"\(state)\",")
              \(more)
              profiles: [{ id: "lab", name: "Lab", upstream: \(upstream), \(isProbed ? "" : "health: false,") \(profile) },
                \(profiles)],
              active: "lab"
            }
            """
        }
    }

    public let program: LabProgram
    private let lab: Lab

    /// Starts it, waits until it is ready and leads the device's traffic into its TUN device.
    public init(_ lab: Lab, _ settings: Settings = Settings(), routed: Bool = true) throws {
        self.lab = lab
        program = try Self.launch(lab, settings)
        try program.waitFor("event=ready", within: 60)
        if routed { try lab.route() }
    }

    /// Starts it and waits for nothing.
    public static func launch(_ lab: Lab, _ settings: Settings) throws -> LabProgram {
        try write(settings, lab)
        return try lab.start(
            .gateway,
            settings.wrapper + ["\(Lab.binaries)/starshipd", "--config", file(lab).path] + settings.arguments)
    }

    /// Puts a configuration where it is read.
    public static func write(_ settings: Settings, _ lab: Lab) throws {
        var settings = settings
        settings.socket = socket(lab)
        settings.state = "\(lab.directory.path)/state"
        try settings.text.write(to: file(lab), atomically: true, encoding: .utf8)
    }

    /// The control socket of a lab's gateway.
    public static func socket(_ lab: Lab) -> String { "\(lab.directory.path)/control.sock" }

    private static func file(_ lab: Lab) -> URL { lab.directory.appending(path: "starshipd.json5") }

    /// Has it read another configuration while it runs, and waits until the log says what became of it.
    public func reload(_ settings: Settings, until event: String = "switch") throws {
        let before = events(event).count
        try Self.write(settings, lab)
        program.signal(.hangUp)
        guard Lab.wait(until: { events(event).count > before }) else {
            throw LabError("no event=\(event) came: \(program.errors.suffix(2000))")
        }
    }

    // Its log

    /// The lines of one event, newest last.
    public func events(_ event: String) -> [Substring] {
        program.errors.split(separator: "\n").filter { $0.contains("event=\(event)") }
    }

    /// Waits for a flow that ended, with all of these texts in its line.
    public func flow(with texts: [String], within seconds: Double = Lab.patience) -> Bool {
        Lab.wait(seconds) { events("flow").contains { line in texts.allSatisfy { line.contains($0) } } }
    }

    // Its counters

    /// Asks for a snapshot and returns it.
    public func snapshot() throws -> Snapshot {
        let before = snapshots.count
        program.signal(.userSignal)
        guard Lab.wait(until: { snapshots.count > before }), let line = snapshots.last else {
            throw LabError("no snapshot came: \(program.errors.suffix(2000))")
        }
        return try Snapshot(line)
    }

    private var snapshots: [Substring] { program.errors.split(separator: "\n").filter { $0.hasPrefix("{") } }

    /// Waits until a snapshot satisfies a condition, which has that time as a promised one; returns the last one.
    public func snapshot(within seconds: Double, until holds: (Snapshot) -> Bool) throws -> Snapshot {
        var last = try snapshot()
        _ = try Lab.wait(promised: seconds) {
            if holds(last) { return true }
            usleep(50_000)
            last = try snapshot()
            return holds(last)
        }
        return last
    }

    // What it uses

    public var isRunning: Bool { program.isRunning }

    /// How many descriptors it has open.
    public var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.pid)/fd").count) ?? 0
    }

    /// Its resident memory in KiB.
    public var residentKiB: Int {
        let status = (try? String(contentsOfFile: "/proc/\(program.pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// The CPU time that it has used, in seconds.
    public var cpuSeconds: Double {
        let text = (try? String(contentsOfFile: "/proc/\(program.pid)/stat", encoding: .utf8)) ?? ""
        // Behind the name, which may hold blanks, utime and stime are the 12th and 13th field.
        let fields = text.drop { $0 != ")" }.split(separator: " ").dropFirst()
        let ticks = fields.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +)
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Ends it by SIGTERM, and returns its exit status.
    public func stop(within seconds: Double = 30) throws -> Int32 {
        program.signal(.terminate)
        return try program.wait(within: seconds).status
    }
}
