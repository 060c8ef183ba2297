/// # Commands: what people type, and what they read
///
///     arguments ── CommandTable ──▶ Invocation: a Command, and how its answer is to look
///     Command.ask ── APIRequest ──▶ (the daemon) ── JSON ── Answer.render ──▶ Rendered: text, warnings, exit code
///     lines of a scanner ── ScanSession ──▶ links to apply, one line on the screen for each
///     CommandTable ──▶ help, and completion for bash, zsh and fish
///
/// One table names each command, its options and what they become. Parsing, help and completion all read it, so none of
/// them can say what another doesn't know. Values alone: `starshipctl` opens the files, asks the daemon and the
/// terminal.

public import Profiles
public import QRCode

/// What the arguments ask for.
public enum Command: Equatable, Sendable {
    /// The text is ready.
    case help(String)
    case version
    /// One request, and how its answer is shown.
    case ask(APIRequest, Answer)
    /// Keeps the change that waits for it, whichever that is.
    case confirm
    case push(Document, confirm: Int?)
    case apply(Application)
    case qr(QRPlan)
    case sheet(SheetPlan)
    case scan(Target?)
    /// Follows what happens until somebody ends it.
    case watch
    /// Has the pages of a file tried through a profile's upstream.
    case choosePage(profile: String?, file: String)
    /// Shows the certificate of a profile's proxy, and writes it into a file.
    case authority(profile: String, file: String?)
    /// The devices of the last days, and what each must undo before the gateway goes.
    case leaving
    case schema
    /// A new key in a new file; nil: a name is made up.
    case keygen(file: String?)
    case lint(LintOrder)
    /// Checks the machine and the configuration.
    case doctor(DoctorOrder)
    /// Writes what a bug report needs.
    case report(DoctorOrder)
    /// The text is ready.
    case completion(String)
    /// The words that completion offers for this kind of argument.
    case candidates(Candidates)
}

/// Whom a switch moves.
public enum Target: Equatable, Sendable {
    case device(String)
    case all
}

/// Where a document to push comes from.
public enum Document: Equatable, Sendable {
    case standardInput
    case file(String)
    case web(WebAddress)
}

/// A link to apply, for whom and how.
public struct Application: Equatable, Sendable {
    /// Nil: one line of standard input.
    public var link: String?
    public var target: Target
    public var duration: String?
    public var overrides = false
    /// Whether it goes on without asking.
    public var isAgreed = false

    /// What the daemon is asked; with `check` it changes nothing.
    public func request(_ link: String, check: Bool) -> APIRequest {
        .apply(link, target, duration: duration, overrides: overrides, check: check)
    }
}

/// A code to draw.
public struct QRPlan: Equatable, Sendable {
    /// What the code says.
    public enum Subject: Equatable, Sendable {
        /// A link that is ready.
        case text(String)
        /// A link to this profile, which the daemon writes.
        case profile(APIRequest)
    }

    /// Where it is drawn.
    public enum Output: Equatable, Sendable {
        case terminal(isInverted: Bool)
        case svg(String)
        case png(String)
    }

    public var subject: Subject
    public var level = QRCode.ErrorCorrection.medium
    public var output = Output.terminal(isInverted: false)
}

/// A printable page of codes.
public struct SheetPlan: Equatable, Sendable {
    /// What kind of file it is.
    public enum Format: Equatable, Sendable {
        case svg
        case html
    }

    public var file: String
    public var format: Format
    public var level = QRCode.ErrorCorrection.medium
    /// What the codes of profiles begin with.
    public var form = Link.Form.starship
    /// The Wi-Fi to join first.
    public var network: String?
    public var passwordFile: String?
}

/// What a command line says: what is to be done, whom to ask, and how the answer is to look.
public struct Invocation: Equatable, Sendable {
    public var command: Command
    /// The daemon's socket, where it was named.
    public var socket: String?
    public var isJSON = false
    public var colour = ColourChoice.automatic

    /// The name of the command as it was typed, for messages; empty where there is none.
    public var name = ""

    /// Whether text is coloured; by itself it is at a terminal alone.
    public enum ColourChoice: String, CaseIterable, Sendable {
        case never
        case automatic = "auto"
        case always
    }

    public static let socketVariable = "STARSHIP_SOCKET"
    public static let defaultSocket = "/run/starship/control.sock"
}

/// How a program ends.
public enum ExitCode {
    public static let done: Int32 = 0
    /// The daemon refused, or something else went wrong; of `status`, yellow and grey.
    public static let failed: Int32 = 1
    /// Of `status`: red.
    public static let red: Int32 = 2
    public static let noDaemon: Int32 = 3
    /// EX_USAGE of sysexits(3).
    public static let usage: Int32 = 64
}

/// The version of the programs.
public enum ProgramVersion {
    public static let text = "0.1.0"
}
