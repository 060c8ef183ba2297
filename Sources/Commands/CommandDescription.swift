/// One row of the table: how a command is written, what it says of itself, and what it becomes.

/// A command as parsing, help and completion know it.
struct CommandDescription: Sendable {
    /// One word or two: `use`, `devices name`.
    var words: [String]
    var group: Group
    var operands: [Operand] = []
    var options: [Option] = []
    /// Options that must be there, as they stand in the usage line.
    var required = ""
    /// One line, without a full stop.
    var summary: String
    /// What one has to know besides, in lines of at most 80 columns.
    var details = ""
    var examples: [String] = []
    var hasJSON = true
    var read: @Sendable (Arguments) throws(ArgumentError) -> Command

    enum Group: String, CaseIterable, Sendable {
        case switching = "Switching"
        case looking = "Looking"
        case configuration = "Configuration"
        case rest = "Besides"
    }

    /// An argument by its place.
    struct Operand: Sendable {
        var name: String
        var candidates = Candidates.none
        var isOptional = false
    }

    /// An argument by its name.
    struct Option: Sendable {
        var name: String
        /// What stands for the value in help; nil: the option takes none.
        var value: String?
        var candidates = Candidates.none
        /// One line of help.
        var summary: String
    }

    var name: String { words.joined(separator: " ") }

    /// What stands in the usage line.
    var usage: String {
        var parts = ["starshipctl"] + words
        parts += operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
        if !required.isEmpty { parts.append(required) }
        if options.contains(where: { !required.contains($0.name) }) { parts.append("[options]") }
        return parts.joined(separator: " ")
    }
}

/// What may stand in the place of an argument.
public enum Candidates: Equatable, Sendable {
    /// Nothing that could be offered.
    case none
    case files
    /// Ids of profiles, which the daemon knows.
    case profiles
    /// Names of devices, which the daemon knows.
    case devices
    case words([String])
}

extension CommandDescription.Option {
    /// What every command takes.
    static let global = [
        Self(
            name: "--socket", value: "PATH", candidates: .files,
            summary: "the daemon's socket (\(Invocation.defaultSocket), or \(Invocation.socketVariable))"),
        Self(name: "--json", summary: "print the daemon's answer as it is"),
        Self(
            name: "--color", value: "WHEN", candidates: .words(Invocation.ColourChoice.allCases.map(\.rawValue)),
            summary: "never, auto (on a terminal, unless NO_COLOR is set) or always"),
        Self(name: "--help", summary: "this text"),
    ]

    static let device = Self(name: "--device", value: "NAME", candidates: .devices, summary: "this device alone")
    static let all = Self(name: "--all", summary: "all devices: moves the gateway's default")
    static let now = Self(name: "--now", summary: "reset old flows at once, busy ones too")
    static let drain = Self(
        name: "--drain", value: "TIME", summary: "give busy old flows so long to fall idle (2s; at most 30s)")
    static let overrides = Self(name: "--override", summary: "with --all: devices with a profile of their own too")
    static let duration = Self(name: "--for", value: "TIME", summary: "with --device: for so long (2h), or forever")
    static let confirm = Self(
        name: "--confirm", value: "SECONDS", summary: "take it back by itself unless `confirm` follows in time")
    static let level = Self(
        name: "--level", value: "LEVEL", candidates: .words(["L", "M", "Q", "H"]),
        summary: "how much may be unreadable: L, M, Q or H (M)")
    static let page = Self(
        name: "--page", value: "HOST", summary: "a link to this gateway's page: http://HOST/a?…, for any camera")
}
