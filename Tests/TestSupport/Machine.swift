/// A machine in the lab's gateway namespace whose first process is systemd, with the gateway installed as a package
/// would (`systemd.sh` has how). What it changes is gone with the value.

import Foundation

public final class Machine {
    public static let unit = "starshipd.service"
    private static let script = "\(Lab.programs)/systemd.sh"

    public let lab: Lab
    /// What the first process says; its log level is this machine's own.
    public let console: LabProgram

    /// Why there can be no such machine here, or nil.
    public static let obstacle: String? = {
        if let obstacle = Lab.obstacle { return obstacle }
        if !Lab.hasSystemUsers { return "devices can't be made in a user namespace" }
        guard FileManager.default.isExecutableFile(atPath: "/lib/systemd/systemd"), Lab.has("nsenter") else {
            return "systemd is not installed"
        }
        do {
            _ = try Machine(try Lab())
            return nil
        } catch {
            return "\(error)"
        }
    }()

    /// Whether it has udev, which starts units when an interface appears.
    public static let hasUdev = FileManager.default.isExecutableFile(atPath: "/lib/systemd/systemd-udevd")

    /// Boots it and waits until it is up.
    public init(_ lab: Lab) throws {
        self.lab = lab
        console = try lab.start(.gateway, [Self.script, "boot", lab.name, Lab.sources.path, Lab.binaries])
        let isUp = try Lab.wait(30) {
            guard console.isRunning else { throw LabError("no machine: \(console.errors.suffix(2000))") }
            guard let answer = try? run(["systemctl", "is-system-running"], within: 5) else { return false }
            return ["running", "degraded"].contains(answer.output.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        guard isUp else { throw LabError("the machine does not come up: \(console.errors.suffix(2000))") }
    }

    deinit {
        console.end(.kill)
        _ = try? Command.run([Self.script, "sweep", lab.name], in: lab.directory.path, within: 20)
    }

    /// Runs a program in the machine, as root.
    @discardableResult
    public func run(
        _ arguments: [String], input: String = "", within seconds: Double = 60
    ) throws -> (status: Int32, output: String, errors: String) {
        let result = try Command.run(
            [Self.script, "run", "\(console.pid)"] + arguments, in: lab.directory.path, input: Array(input.utf8),
            within: seconds)
        return (result.status, String(decoding: result.output, as: UTF8.self), result.errors)
    }

    /// Runs a shell's text, which must not fail, and returns what it prints.
    @discardableResult
    public func shell(_ text: String, within seconds: Double = 60) throws -> String {
        let result = try run(["sh", "-c", text], within: seconds)
        guard result.status == 0 else { throw LabError("\(text): \(result.status) \(result.output)\(result.errors)") }
        return String(result.output.dropLast(result.output.hasSuffix("\n") ? 1 : 0))
    }

    /// Puts a file into the machine.
    public func write(_ text: String, to path: String, mode: String = "644") throws {
        let command = "mkdir -p \"$(dirname \"$0\")\" && cat >\"$0\" && chmod \(mode) \"$0\""
        let result = try run(["sh", "-c", command, path], input: text)
        guard result.status == 0 else { throw LabError("\(path): \(result.errors)") }
    }

    // The service

    /// Puts the configuration where the unit reads it.
    public func configure(_ settings: Daemon.Settings) throws {
        var settings = settings
        settings.socket = "/run/starship/control.sock"
        settings.state = "/var/lib/starship"
        settings.more.replace("\(lab.directory.path)/state", with: "/var/lib/starship")
        try write(settings.text, to: "/etc/starship/starship.json5")
    }

    /// Adds lines to the unit.
    public func extend(_ text: String, as name: String = "test") throws {
        try write(text, to: "/etc/systemd/system/\(Self.unit).d/\(name).conf")
        try shell("systemctl daemon-reload")
    }

    /// A property of the unit, as systemctl(1) shows it.
    public func property(_ name: String, of unit: String = Machine.unit) throws -> String {
        try shell("systemctl show --value -p \(name) \(unit)")
    }

    public var process: Int { get throws { Int(try property("MainPID")) ?? 0 } }

    public var isActive: Bool { get throws { try property("ActiveState") == "active" } }

    /// Starts it, and returns when systemd calls it started; with the whole of its log where it does not.
    public func start() throws {
        let result = try run(["systemctl", "start", Self.unit], within: 90)
        guard result.status == 0 else { throw LabError("\(result.errors)\(said)") }
    }

    public func stop() throws { try shell("systemctl stop \(Self.unit)") }

    /// What the unit and its processes have said.
    public func log() throws -> String { try run(["journalctl", "--no-pager", "-o", "cat", "-u", Self.unit]).output }

    /// As `log`, for comments on what failed.
    public var said: String { (try? log()) ?? "(no log)" }

    /// Waits until a process other than this one runs as the service, and is ready.
    public func waitForSuccessor(of process: Int, within seconds: Double = 30) throws {
        let came = try Lab.wait(seconds) { try self.process != process && isActive }
        guard came else { throw LabError("no successor of \(process): \(said.suffix(3000))") }
    }
}
