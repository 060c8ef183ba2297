/// A terminal that nobody sits at: a program in a window of tmux, of any size, with keys pressed by a test.

import Foundation

public final class Tmux {
    private let directory: URL
    private let socket: String

    /// Starts a program in a window of this size; `environment` is in the form that env(1) takes.
    public init(_ command: [String], columns: Int, rows: Int) throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "starship-tmux-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        socket = directory.appending(path: "s").path
        // What remains of the program's end stays to be seen.
        let settings = ["set-option", "-g", "remain-on-exit", "on", ";", "set-option", "-g", "status", "off", ";"]
        let window = ["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "-s", "t"]
        try run(["-f", "/dev/null", "start-server", ";"] + settings + window + command)
    }

    deinit {
        _ = try? run(["kill-server"])
        try? FileManager.default.removeItem(at: directory)
    }

    /// Presses keys by the names that tmux has for them.
    public func press(_ keys: String...) throws { try run(["send-keys", "-t", "t"] + keys) }

    public func resize(columns: Int, rows: Int) throws {
        try run(["resize-window", "-t", "t", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// What is to be seen, a line each, without blanks at the ends.
    public func screen() throws -> [String] {
        let text = try run(["capture-pane", "-p", "-t", "t"])
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// The same with colours and their like as ECMA-48 writes them.
    public func painted() throws -> String { try run(["capture-pane", "-p", "-e", "-t", "t"]) }

    /// Waits until a text is to be seen, and returns the screen with it.
    @discardableResult
    public func waitFor(_ text: String, within seconds: Double = Lab.patience) throws -> [String] {
        var lines: [String] = []
        let came = try Lab.wait(seconds) {
            lines = try screen()
            return lines.contains { $0.contains(text) }
        }
        guard came else { throw LabError("no \"\(text)\" on the screen:\n\(lines.joined(separator: "\n"))") }
        return lines
    }

    /// A property of the window, as tmux's formats name it: `pane_dead`, `alternate_on`, `pane_pid`.
    public func property(_ name: String) throws -> String {
        String(try run(["display-message", "-p", "-t", "t", "#{\(name)}"]).prefix { $0 != "\n" })
    }

    @discardableResult
    private func run(_ arguments: [String]) throws -> String {
        // The threads of the tests block signals, and a shell's job control needs them.
        let result = try Command.run(
            ["env", "--default-signal", "tmux", "-S", socket] + arguments, in: directory.path, within: 20)
        guard result.status == 0 else { throw LabError("tmux \(arguments.prefix(3)): \(result.errors)") }
        return String(decoding: result.output, as: UTF8.self)
    }
}
