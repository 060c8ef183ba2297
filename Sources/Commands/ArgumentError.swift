/// Arguments that ask for nothing that there is.

/// What is wrong, in which command, and what would be right: one line.
public struct ArgumentError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Such as `devices name`; empty where no command was found.
    public var command: String
    public var message: String
    public var hint: String?

    public init(_ command: String, _ message: String, hint: String? = nil) {
        self.command = command
        self.message = message
        self.hint = hint
    }

    public var description: String {
        (command.isEmpty ? "" : "\(command): ") + message + (hint.map { " (\($0))" } ?? "")
    }
}
