/// What the arguments of `starshipd` ask for.
///
/// Every option stands once, as `--name value` or `--name=value`. A password is no argument: everybody on the
/// machine can read the arguments of a program.

/// The arguments as a value.
public struct CommandLineOptions: Equatable, Sendable {
    public var command: Command
    /// The configuration file; empty for `help` and `version` alone.
    public var configuration = ""
    public var capture: Capture?
    public var upstream: UpstreamOverride?

    public enum Command: String, CaseIterable, Sendable {
        case run
        case check
        case version
        case help
    }

    /// Packets to write, and into which files.
    public struct Capture: Equatable, Sendable {
        public var file: String
        /// In the language of pcap-filter(7); nil: everything.
        public var filter: String?
        /// Octets of each packet.
        public var snap = 262_144
        /// Octets of a file before the next one begins.
        public var size = 64 << 20
        /// Files that are kept.
        public var files = 4
    }

    /// An upstream in place of the active profile's.
    public enum UpstreamOverride: Equatable, Sendable {
        case url(ProxyURL)
        /// A file that holds the URL, with its password.
        case file(String)
    }
}

/// Arguments that ask for nothing that there is; the program ends with `exitCode`.
public struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// EX_USAGE of sysexits(3).
    public static let exitCode: Int32 = 64

    public var message: String
    public var hint: String?

    public var description: String { message + (hint.map { " (\($0))" } ?? "") }
}

extension CommandLineOptions {
    private static let valued = [
        "--config", "--capture", "--capture-filter", "--capture-snap", "--capture-size", "--capture-files",
        "--upstream",
        "--upstream-file",
    ]

    /// Reads the arguments without the program's name.
    public static func parse(_ arguments: [String]) throws(UsageError) -> CommandLineOptions {
        var rest = arguments[...]
        var options = CommandLineOptions(command: .run)
        if let word = rest.first, !word.hasPrefix("-") {
            options.command = try command(word)
            rest.removeFirst()
        }
        var values: [String: String] = [:]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": return CommandLineOptions(command: .help)
            case "--version": return CommandLineOptions(command: .version)
            default: break
            }
            guard argument.hasPrefix("-") else {
                guard options.command == .check, values["--config"] == nil else {
                    throw UsageError(message: "one argument too many", hint: "options begin with --")
                }
                values["--config"] = argument
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard valued.contains(name) else { throw unknown(name) }
            guard values[name] == nil else { throw UsageError(message: "\(name) stands twice") }
            guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
                throw UsageError(message: "\(name) wants a value")
            }
            values[name] = value
        }
        if options.command == .help || options.command == .version { return options }
        try options.take(values)
        return options
    }

    private static func command(_ word: String) throws(UsageError) -> Command {
        if let command = Command(rawValue: word) { return command }
        let near = NearMiss.suggestion(for: word, among: Command.allCases.map(\.rawValue))
        throw UsageError(
            message: "unknown command", hint: near.map { "did you mean `\($0)`?" } ?? "run, check, version or help")
    }

    private static func unknown(_ name: String) -> UsageError {
        let near = NearMiss.suggestion(for: name, among: valued + ["--help", "--version"])
        let shown =
            name.utf8.allSatisfy { $0 == 0x2d || Unicode.Scalar($0).isASCIILetterOrDigit } ? " " + name.prefix(40) : ""
        return UsageError(message: "unknown option\(shown)", hint: near.map { "did you mean \($0)?" } ?? "see --help")
    }

    private mutating func take(_ values: [String: String]) throws(UsageError) {
        guard let file = values["--config"] else { throw UsageError(message: "--config FILE is missing") }
        configuration = file
        if command == .check,
            let other = values.keys.sorted().first(where: { !["--config", "--upstream"].contains($0) })
        {
            throw UsageError(message: "\(other) is for `run`")
        }
        try takeCapture(values)
        try takeUpstream(values)
    }

    private mutating func takeCapture(_ values: [String: String]) throws(UsageError) {
        guard let file = values["--capture"] else {
            guard let lonely = values.keys.sorted().first(where: { $0.hasPrefix("--capture-") }) else { return }
            throw UsageError(message: "\(lonely) without --capture FILE")
        }
        var capture = Capture(file: file)
        capture.filter = values["--capture-filter"]
        if let text = values["--capture-snap"] {
            capture.snap = try Self.number(text, "--capture-snap", within: 40...262_144)
        }
        if let text = values["--capture-files"] {
            capture.files = try Self.number(text, "--capture-files", within: 1...1000)
        }
        if let text = values["--capture-size"] {
            guard let size = Quantity.size(text), (64 << 10...64 << 30).contains(size) else {
                throw UsageError(message: "--capture-size wants a size from 64KiB to 64GiB", hint: "such as 64MiB")
            }
            capture.size = size
        }
        self.capture = capture
    }

    private mutating func takeUpstream(_ values: [String: String]) throws(UsageError) {
        if let file = values["--upstream-file"] {
            guard values["--upstream"] == nil else {
                throw UsageError(message: "--upstream and --upstream-file exclude each other")
            }
            upstream = .file(file)
        }
        guard let text = values["--upstream"] else { return }
        do throws(ProxyURLError) {
            upstream = .url(try ProxyURL.parse(text))
        } catch {
            throw UsageError(message: "--upstream: \(error)")
        }
        if case .url(let url) = upstream, let credentials = url.upstream.credentials {
            guard credentials.password == .given(Secret("")) else {
                throw UsageError(
                    message: "--upstream: a password on the command line can be read by everybody on this machine",
                    hint: "put the URL into a file and name it with --upstream-file")
            }
        }
    }

    private static func number(
        _ text: String, _ name: String, within range: ClosedRange<Int>
    ) throws(UsageError) -> Int {
        guard text.unicodeScalars.allSatisfy(\.isDecimalDigit), let number = Int(text), range.contains(number) else {
            throw UsageError(message: "\(name) wants a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// What `--help` prints.
    public static let help = """
        usage: starshipd [run] --config FILE [options]
               starshipd check FILE
               starshipd --version | --help

          --config FILE          the configuration, JSON5 (Configs/ has examples)
          --upstream URL         use this proxy instead of the active profile's: http://host:port or
                                 socks5://host:port, without a password
          --upstream-file FILE   the same from a file, which may hold http://user:password@host:port
          --capture FILE         write the packets of the TUN device into FILE (pcap)
          --capture-filter EXPR  only packets that match, in the language of pcap-filter(7)
          --capture-snap N       the first N octets of each packet (262144)
          --capture-size SIZE    begin a new file after SIZE (64MiB)
          --capture-files N      keep the newest N files (4)

        check reads a configuration and says what it means, or what is wrong with it.
        Exit codes: 0 ended as told, 1 failed, 64 wrong arguments, 78 wrong configuration.

        """
}
