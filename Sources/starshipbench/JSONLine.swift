/// What the load generator says: one JSON object a line, for scripts/bench to read.

internal import LinuxIO

/// One object of numbers, printed when it is complete.
struct JSONLine {
    private var members: [String] = []

    mutating func add(_ name: String, _ value: Int) { members.append("\"\(name)\": \(value)") }

    mutating func add(_ name: String, _ value: Int64) { members.append("\"\(name)\": \(value)") }

    mutating func add(_ name: String, _ value: Double) { members.append("\"\(name)\": \(value)") }

    func print() {
        StandardOutput.write("{" + members.joined(separator: ", ") + "}\n")
    }
}
