/// A daemon that says what a script tells it, for the programs that ask one.

import Foundation

/// The server of `control.py`: a control socket, a web server and a resolver, all on this machine.
public final class ScriptedControl {
    private let directory: URL
    private var program: LabProgram
    public let webPort: Int
    public let dnsPort: Int

    public var socket: String { directory.appending(path: "control.sock").path }

    /// Starts it with a script in JSON.
    public init(_ script: String) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "starship-control-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        program = try Self.start(script, directory)
        let ready = try Self.lines(of: program)[0]
        webPort = ready["web"] as? Int ?? 0
        dnsPort = ready["dns"] as? Int ?? 0
    }

    private static func start(_ script: String, _ directory: URL) throws -> LabProgram {
        try Data(script.utf8).write(to: directory.appending(path: "script.json"))
        let program = try LabProgram(
            Lab.python(["control.py", directory.path]), in: directory, environment: ["LC_ALL": "C.UTF-8"])
        try program.waitFor("\"ready\"")
        return program
    }

    /// Kills it, as a daemon that has crashed; its socket stays.
    public func kill() { program.end(.kill) }

    /// Starts it anew with another script, at the same socket; what came in before is forgotten.
    public func restart(_ script: String) throws {
        kill()
        program = try Self.start(script, directory)
    }

    deinit {
        program.end(.kill)
        try? FileManager.default.removeItem(at: directory)
    }

    /// One request as it came in.
    public struct Request: Equatable {
        public let method: String
        public let target: String
        public let type: String?
        public let body: String

        public init(method: String, target: String, type: String?, body: String) {
            self.method = method
            self.target = target
            self.type = type
            self.body = body
        }
    }

    /// The requests at the control socket (or at the web server) until now.
    public func requests(_ kind: String = "control") throws -> [Request] {
        try Self.lines(of: program).filter { $0["kind"] as? String == kind }.map { line in
            Request(
                method: line["method"] as? String ?? "", target: line["target"] as? String ?? "",
                type: line["type"] as? String, body: line["body"] as? String ?? "")
        }
    }

    /// What those who asked for events have said of the last one that they have seen.
    public func lastEvents() throws -> [String] {
        try Self.lines(of: program).filter { $0["target"] as? String == "/v1/events" }.map {
            $0["last"] as? String ?? ""
        }
    }

    /// The names that the resolver was asked for.
    public func names() throws -> [String] {
        try Self.lines(of: program).filter { $0["kind"] as? String == "dns" }.compactMap { $0["name"] as? String }
    }

    /// Runs `starshipctl` against it, with further settings of the environment as `env` takes them.
    public func run(
        _ arguments: [String], input: String = "", environment: [String] = []
    ) throws -> (status: Int32, output: String, errors: String) {
        let result = try Command.run(
            ["env"] + environment + ["\(Lab.binaries)/starshipctl", "--socket", socket] + arguments,
            in: directory.path, input: Array(input.utf8))
        return (result.status, String(decoding: result.output, as: UTF8.self), result.errors)
    }

    private static func lines(of program: LabProgram) throws -> [[String: Any]] {
        try program.output.split(separator: "\n").map { line in
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return value as? [String: Any] ?? [:]
        }
    }
}
