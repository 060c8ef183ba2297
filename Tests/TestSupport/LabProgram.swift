/// A program that runs in one of the lab's namespaces.
///
/// What it prints goes to files, so nothing that a test does or forgets can block it, and every wait has an
/// end. The program is killed when the value goes away.

import Foundation

/// Why something in the lab did not come about; the text is for whoever reads the test's output.
public struct LabError: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

public final class LabProgram {
    /// What became of a program that ended: its exit status (negative: the signal), output and errors.
    public struct Result {
        public let status: Int32
        public let output: String
        public let errors: String
    }

    public let name: String
    private var child: ChildProcess
    private let inputFile: URL
    private let outputFile: URL
    private let errorFile: URL

    /// Starts a program; the first argument is its path or its name on PATH.
    ///
    /// What is to stand before it becomes the program in the end, by exec(3).
    init(
        _ arguments: [String], within wrapper: [String] = [], input: String? = nil, in directory: URL,
        environment: [String: String]
    ) throws {
        name = arguments.prefix(2).joined(separator: " ")
        let place = directory.appending(path: UUID().uuidString)
        outputFile = place.appendingPathExtension("out")
        errorFile = place.appendingPathExtension("err")
        inputFile = place.appendingPathExtension("in")
        try Data((input ?? "").utf8).write(to: inputFile)
        try Data().write(to: outputFile)
        try Data().write(to: errorFile)
        child = try ChildProcess(
            wrapper + arguments, environment: environment, directory: directory,
            input: try FileHandle(forReadingFrom: inputFile), output: try FileHandle(forWritingTo: outputFile),
            errors: try FileHandle(forWritingTo: errorFile))
    }

    /// Starts a program beside the test, in no namespace; as `Command.run`, for one that the test goes on with.
    public convenience init(beside arguments: [String], in directory: String) throws {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let place = URL(fileURLWithPath: directory)
        try self.init(arguments, in: place, environment: ["PATH": path, "LC_ALL": "C.UTF-8"])
    }

    deinit {
        end(.kill)
        for file in [inputFile, outputFile, errorFile] { try? FileManager.default.removeItem(at: file) }
    }

    public var pid: Int32 { child.pid }
    public var isRunning: Bool { child.isRunning() }
    public var output: String { Self.text(of: outputFile) }
    public var errors: String { Self.text(of: errorFile) }

    /// Waits until the program has ended by itself, or throws when it has not within `seconds`.
    public func wait(within seconds: Double) throws -> Result {
        guard Lab.wait(seconds, until: { !isRunning }) else {
            end(.kill)
            throw LabError("\(name) did not end within \(seconds) s\n\(output.suffix(2000))\n\(errors.suffix(4000))")
        }
        return Result(status: child.exitStatus, output: output, errors: errors)
    }

    /// Waits until the program has printed a text (on either stream).
    public func waitFor(_ text: String, within seconds: Double = Lab.patience) throws {
        let came = Lab.wait(seconds) { errors.contains(text) || output.contains(text) || !isRunning }
        guard came, errors.contains(text) || output.contains(text) else {
            throw LabError("\(name) did not say \"\(text)\" within \(seconds) s: \(errors.suffix(4000))")
        }
    }

    public enum Ending: Int32 {
        case kill = 9
        case terminate = 15
        case userSignal = 10
        case hangUp = 1
        /// It keeps what it has and does nothing, until it may go on.
        case stop = 19
        case goOn = 18
    }

    /// Sends a signal to the program, if it is still there.
    public func signal(_ signal: Ending) {
        child.send(signal.rawValue)
    }

    /// Sends a signal and waits for the end, for as long as is waited for anything.
    public func end(_ how: Ending) {
        signal(how)
        _ = Lab.wait { !isRunning }
    }

    private static func text(of file: URL) -> String {
        (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

extension LabProgram {
    /// The C compiler that comes with the Swift toolchain, for machines without another.
    public static var clang: String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let places = path.split(separator: ":").map { "\($0)/clang" } + ["/opt/swift/usr/bin/clang"]
        return places.first { FileManager.default.isExecutableFile(atPath: $0) } ?? "clang"
    }
}
