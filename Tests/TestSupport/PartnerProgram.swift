/// A program of the system that runs beside a test: a server to be looked at.

import Foundation

/// Runs until the value goes away.
public final class PartnerProgram {
    private var child: ChildProcess
    private let file: URL

    /// Starts a program in a directory; the first argument is its path or its name on PATH.
    public init(_ arguments: [String], in directory: String) throws {
        file = URL(fileURLWithPath: directory).appending(path: "\(UUID().uuidString).out")
        try Data().write(to: file)
        guard let nothing = FileHandle(forReadingAtPath: "/dev/null") else { throw LabError("no /dev/null") }
        let output = try FileHandle(forWritingTo: file)
        output.seekToEndOfFile()
        child = try ChildProcess(
            arguments,
            environment: [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "LC_ALL": "C.UTF-8", "HOME": directory,
            ],
            directory: URL(fileURLWithPath: directory), input: nothing, output: output, errors: output)
    }

    deinit {
        child.send(SIGKILL)
        _ = Lab.wait(5) { !child.isRunning() }
        try? FileManager.default.removeItem(at: file)
    }

    /// What it has printed, on both streams.
    public var output: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    /// Waits until it has printed a text.
    public func waitFor(_ text: String, within seconds: Double = 20) throws {
        guard Lab.wait(seconds, until: { output.contains(text) || !child.isRunning() }), output.contains(text) else {
            throw LabError("no \"\(text)\" within \(seconds) s: \(output.suffix(2000))")
        }
    }

    /// Waits until something listens on a port of this machine.
    public func waitForPort(_ port: UInt16, within seconds: Double = 20) throws {
        let hex = String(port, radix: 16, uppercase: true)
        let place = ":" + String(repeating: "0", count: 4 - hex.count) + hex + " "
        let isListening = Lab.wait(seconds) {
            ["/proc/net/tcp", "/proc/net/tcp6"].contains { file in
                let lines = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n") ?? []
                // The state 0A is LISTEN.
                return lines.contains { $0.contains(place) && $0.contains(" 0A ") }
            }
        }
        if !isListening { throw LabError("nothing listens on port \(port): \(output.suffix(2000))") }
    }
}
