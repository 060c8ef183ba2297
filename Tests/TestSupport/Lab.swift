/// # The lab: four network namespaces and what runs in them
///
///     device ── gateway ── internet ── origin
///
/// The device runs unmodified clients, the gateway runs `starshipd`, the proxies are in the internet and the
/// servers at the origin (`scripts/lab` has the addresses). The test process itself stays outside and starts
/// programs in the namespaces. Each test has a lab of its own, which costs a twentieth of a second; it is gone
/// with the value, and when the test process is killed a keeper outside of it cleans up.

public import Foundation
import Synchronization

public final class Lab {
    public enum Place: String, CaseIterable {
        case device
        /// A second device, once `addTablet` was called.
        case tablet
        /// A third one, once `addLaptop` was called.
        case laptop
        case gateway
        /// A second gateway, once `addGateway` was called.
        case second
        case internet
        case origin
    }

    /// The namespaces' common name; it ends in our pid, by which a later run finds what a killed one left.
    public let name: String
    /// Files of this lab, gone with it.
    public let directory: URL
    private var keeper: ChildProcess
    private let keeperInput: Pipe
    private var emulator: LabProgram?

    /// Where the sources are, the programs of the tests and the ones under test.
    public static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    public static let programs = sources.appending(path: "Tests/Programs").path
    /// `STARSHIP_BINARIES` names the directory of the binaries under test; `scripts/test` sets it to the release.
    public static let binaries =
        ProcessInfo.processInfo.environment["STARSHIP_BINARIES"] ?? sources.appending(path: ".build/debug").path

    private static let made = Atomic<Int>(0)

    /// Makes the namespaces; with `link` the device is joined to the gateway by the emulator in place of a veth.
    public init(link: BadLink? = nil) throws {
        let number = Self.made.wrappingAdd(1, ordering: .relaxed).oldValue
        if number == 0 { _ = try Self.script("sweep") }
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz")
        let letters = String([alphabet[number / 26 % 26], alphabet[number % 26]])
        name = "starship\(letters)\(ProcessInfo.processInfo.processIdentifier)"
        directory = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        // The proxies run as users of their own and read files here.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        for own in [Self.runDirectory, "\(directory.path)/run-gateway", "\(directory.path)/run-second"] {
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        }
        keeperInput = Pipe()
        // No other child may hold the end whose closing tells the keeper that we are gone.
        _ = fcntl(keeperInput.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        keeper = try ChildProcess(
            [Self.sources.appending(path: "scripts/lab").path, "keep", name],
            environment: ProcessInfo.processInfo.environment, directory: directory,
            input: keeperInput.fileHandleForReading, output: FileHandle.nullDevice, errors: FileHandle.standardError)
        try keeperInput.fileHandleForReading.close()
        if let link { emulator = try Self.emulate(link, in: name, directory) } else { _ = try Self.script("up", name) }
    }

    deinit {
        try? keeperInput.fileHandleForWriting.close()
        _ = Self.wait(30) { !keeper.isRunning() }
        try? FileManager.default.removeItem(at: directory)
    }

    /// Starts a program in a namespace.
    public func start(_ place: Place, _ arguments: [String], input: String? = nil) throws -> LabProgram {
        let inside = ["ip", "netns", "exec", "\(name)-\(place.rawValue)"] + ownRunDirectory(place)
        return try LabProgram(arguments, within: inside, input: input, in: directory, environment: environment)
    }

    /// Where gateways keep what is true until the next boot, and lock out whoever changes the network beside them.
    private static let runDirectory = "/run/starship"

    /// What stands before a program of a gateway: each has such a directory to itself, as if it were a machine.
    private func ownRunDirectory(_ place: Place) -> [String] {
        guard place == .gateway || place == .second else { return [] }
        // Each program in a namespace of `ip netns` has mounts of its own.
        let mounted = "mount --bind \"$0\" \(Self.runDirectory) && exec \"$@\""
        return ["sh", "-c", mounted, directory.appending(path: "run-\(place.rawValue)").path]
    }

    /// Runs a program in a namespace to its end.
    @discardableResult
    public func run(
        _ place: Place, _ arguments: [String], input: String? = nil, within seconds: Double = 60
    ) throws -> LabProgram.Result {
        try start(place, arguments, input: input).wait(within: seconds)
    }

    /// Runs one of the tests' own programs to its end and gives its output, which must not be an error.
    public func program(
        _ place: Place, _ arguments: [String], input: String? = nil, within seconds: Double = 60
    ) throws -> String {
        let result = try run(place, Self.python(arguments), input: input, within: seconds)
        guard result.status == 0 else { throw LabError("\(arguments) ended with \(result.status): \(result.errors)") }
        return result.output
    }

    /// The command line of one of the tests' own programs.
    public static func python(_ arguments: [String]) -> [String] {
        ["/usr/bin/python3", "\(programs)/\(arguments[0])"] + arguments.dropFirst()
    }

    /// Adds a second device on the same link, with a MAC and an address of its own (10.9.0.3).
    public func addTablet() throws { _ = try Self.script("tablet", name) }

    /// Adds a third device on the same link (10.9.0.4).
    public func addLaptop() throws { _ = try Self.script("laptop", name) }

    /// Puts a second gateway beside the first one, behind a switch, and takes 10.9.0.1 from the first one.
    public func addGateway() throws { _ = try Self.script("pair", name) }

    /// Leads what the device sends into the TUN device of that name.
    public func route(into tunnel: String = "starship0") throws {
        _ = try Self.script("route", name, tunnel)
    }

    /// How long is waited for what comes in a moment, unless somebody else has the machine.
    public static let patience = 20.0

    /// Waits until a condition holds, and says whether it did within the time, which promises nothing.
    public static func wait(_ seconds: Double = patience, until holds: () throws -> Bool) rethrows -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        repeat {
            if try holds() { return true }
            usleep(5000)
        } while Date() < deadline
        return try holds()
    }

    @discardableResult
    static func script(_ arguments: String...) throws -> String {
        let command = [sources.appending(path: "scripts/lab").path] + arguments
        let program = try LabProgram(
            command, in: FileManager.default.temporaryDirectory, environment: ProcessInfo.processInfo.environment)
        let result = try program.wait(within: 60)
        guard result.status == 0 else { throw LabError("scripts/lab \(arguments): \(result.errors)") }
        return result.output
    }

    private var environment: [String: String] {
        [
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": directory.path, "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1",
        ]
    }
}
