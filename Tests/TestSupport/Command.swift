/// A program that a test asks for a second opinion: run to its end, its output taken as octets.

import Foundation

public enum Command {
    /// Runs a program in a directory; the first argument is its path or its name on PATH.
    ///
    /// Throws when it can't be started or has not ended within `seconds`; its exit status is the caller's to look at.
    public static func run(
        _ arguments: [String], in directory: String, input: [UInt8] = [], within seconds: Double = 120
    ) throws -> (status: Int32, output: [UInt8], errors: String) {
        let place = URL(fileURLWithPath: directory)
        let files = ["in", "out", "err"].map { place.appending(path: "\(UUID().uuidString).\($0)") }
        for file in files { try Data(input).write(to: file) }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        for file in files.dropFirst() { try Data().write(to: file) }
        var child = try ChildProcess(
            arguments, environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "LC_ALL": "C.UTF-8"],
            directory: place, input: try FileHandle(forReadingFrom: files[0]),
            output: try FileHandle(forWritingTo: files[1]), errors: try FileHandle(forWritingTo: files[2]))
        guard Lab.wait(seconds, until: { !child.isRunning() }) else {
            child.send(SIGKILL)
            throw LabError("\(arguments.prefix(2).joined(separator: " ")) did not end within \(seconds) s")
        }
        return (
            child.exitStatus, [UInt8](try Data(contentsOf: files[1])),
            String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
        )
    }
}
