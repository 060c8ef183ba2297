/// What the arguments of `starshipd` ask for.
///
/// Every option stands once, as `--name value` or `--name=value`. A password is no argument: everybody on the
/// machine can read the arguments of a program.

internal import Bytes

/// The arguments as a value.
public struct CommandLineOptions: Equatable, Sendable {
    public var command: Command
    /// The configuration file; empty for `help`, `version`, `cleanup` and `dhcp-probe` alone.
    public var configuration = ""
    /// What `explain` is asked; nil for every other command.
    public var question: Question?
    public var capture: Capture?
    public var upstream: UpstreamOverride?
    /// `settings` runs just before a start: all that the start reads is read first, and what is wrong is the start's to
    /// say.
    public var isBeforeStart = false
    /// Whether the program gives up what it does not need once it runs; off for looking into it alone.
    public var isLockedDown = true
    /// The directory of the lab's state that `check` and `plan` are to read besides the file.
    public var state: String?
    /// The interface that `dhcp-probe` asks on; empty for every other command.
    public var interface = ""

    /// What is to be done.
    public enum Command: String, CaseIterable, Sendable {
        case run
        case check
        /// Says what would become of a flow, and why.
        case explain
        /// Says what a start would change in the machine's network.
        case plan
        /// Undoes what a run that was killed has left in the machine's network.
        case cleanup
        /// Makes the kernel's settings, for a daemon that may not.
        case settings
        /// Does what is to be done after a service has ended.
        case ended
        /// Asks a link whether a DHCP server is on it.
        case probeDHCP = "dhcp-probe"
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
    public static let exitCode = ExitCode.usage.rawValue

    public var message: String
    public var hint: String?

    public var description: String { message + (hint.map { " (\($0))" } ?? "") }
}

extension CommandLineOptions {
    private static let valued = [
        "--config", "--capture", "--capture-filter", "--capture-snap", "--capture-size", "--capture-files",
        "--upstream", "--upstream-file", "--from", "--state",
    ]
    private static let flags = ["--udp", "--before-start", "--no-lockdown"]

    /// Reads the arguments without the program's name.
    public static func parse(_ arguments: [String]) throws(UsageError) -> CommandLineOptions {
        var rest = arguments[...]
        var options = CommandLineOptions(command: .run)
        if let word = rest.first, !word.hasPrefix("-") {
            options.command = try command(word)
            rest.removeFirst()
        }
        var arguments = Arguments()
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": return CommandLineOptions(command: .help)
            case "--version": return CommandLineOptions(command: .version)
            default: try arguments.take(argument, &rest)
            }
        }
        if options.command == .help || options.command == .version { return options }
        try options.take(&arguments)
        return options
    }

    /// Arguments by name, before anybody asked what they mean.
    private struct Arguments {
        var values: [String: String] = [:]
        /// Those without a name, in order.
        var plain: [String] = []

        mutating func take(_ argument: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
            guard argument.hasPrefix("-") else {
                plain.append(argument)
                return
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard valued.contains(name) || flags.contains(name) else { throw unknown(name) }
            guard values[name] == nil else { throw UsageError(message: "\(name) stands twice") }
            guard !flags.contains(name) else {
                guard parts.count == 1 else { throw UsageError(message: "\(name) takes no value") }
                values[name] = "yes"
                return
            }
            guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
                throw UsageError(message: "\(name) wants a value")
            }
            values[name] = value
        }
    }

    private static func command(_ word: String) throws(UsageError) -> Command {
        if let command = Command(rawValue: word) { return command }
        let near = NearMiss.suggestion(for: word, among: Command.allCases.map(\.rawValue))
        throw UsageError(
            message: "unknown command",
            hint: near.map { "did you mean `\($0)`?" }
                ?? "run, check, plan, explain, cleanup, settings, ended, dhcp-probe, version or help")
    }

    private static func unknown(_ name: String) -> UsageError {
        let near = NearMiss.suggestion(for: name, among: valued + flags + ["--help", "--version"])
        let shown =
            name.utf8.allSatisfy { $0 == 0x2d || Unicode.Scalar($0).isASCIILetterOrDigit } ? " " + name.prefix(40) : ""
        return UsageError(message: "unknown option\(shown)", hint: near.map { "did you mean \($0)?" } ?? "see --help")
    }

    /// The options that a command has besides those of its own.
    private static func options(of command: Command) -> [String] {
        switch command {
        case .run: valued.filter { $0 != "--from" && $0 != "--state" } + ["--no-lockdown"]
        case .check, .plan: ["--config", "--upstream", "--state"]
        case .explain: ["--config", "--from", "--udp"]
        case .settings: ["--config", "--before-start"]
        case .ended: ["--config"]
        case .cleanup, .probeDHCP, .version, .help: []
        }
    }

    private mutating func take(_ arguments: inout Arguments) throws(UsageError) {
        guard command != .cleanup || arguments.values.isEmpty && arguments.plain.isEmpty else {
            throw UsageError(message: "cleanup takes no arguments")
        }
        let allowed = Self.options(of: command)
        if let other = arguments.values.keys.sorted().first(where: { !allowed.contains($0) }) {
            let homes = ["--from": "explain", "--udp": "explain", "--before-start": "settings", "--state": "check"]
            let home = homes[other] ?? "run"
            throw UsageError(message: "\(other) is for `\(home)`")
        }
        if command == .check || command == .plan, arguments.values["--config"] == nil, !arguments.plain.isEmpty {
            arguments.values["--config"] = arguments.plain.removeFirst()
        }
        if command == .explain {
            guard !arguments.plain.isEmpty else { throw UsageError(message: "explain wants HOST or HOST:PORT") }
            question = try Question(
                arguments.plain.removeFirst(), from: arguments.values["--from"],
                isUDP: arguments.values["--udp"] != nil)
        }
        if command == .probeDHCP {
            guard let name = arguments.plain.first, Section.isInterface(name) else {
                throw UsageError(message: "dhcp-probe wants the name of an interface", hint: "such as eth1")
            }
            arguments.plain.removeFirst()
            interface = name
        }
        guard arguments.plain.isEmpty else {
            throw UsageError(message: "one argument too many", hint: "options begin with --")
        }
        guard command != .cleanup, command != .probeDHCP else { return }
        guard let file = arguments.values["--config"] else { throw UsageError(message: "--config FILE is missing") }
        configuration = file
        isBeforeStart = arguments.values["--before-start"] != nil
        isLockedDown = arguments.values["--no-lockdown"] == nil
        state = arguments.values["--state"]
        try takeCapture(arguments.values)
        try takeUpstream(arguments.values)
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
               starshipd check FILE [--state DIRECTORY]
               starshipd plan FILE [--state DIRECTORY]
               starshipd explain HOST[:PORT] [--from ADDRESS] [--udp] --config FILE
               starshipd cleanup
               starshipd settings | ended --config FILE
               starshipd dhcp-probe INTERFACE
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
          --no-lockdown          keep all rights and system calls, for debuggers; never in service

        check reads a configuration and says what it means, or what is wrong with it; with --state the lab's
        state in a copy of its directory, too.
        plan prints what a start would change in the machine's network, as commands, and does nothing.
        explain says what becomes of a flow to HOST: which rule decides, with its file and line, who learns
        the name, what DNS answers, and where the flow goes. --from is the device's address.
        cleanup removes every rule, route, table and address that a run which was killed has left.
        settings makes the kernel's settings that FILE needs (forwarding, rp_filter, redirects), as root,
        for a daemon that may not; /run/starship-settings.state keeps what they were. --before-start is for
        the unit: a wrong FILE is left to the start to tell.
        ended is for the unit too: it puts settings back after a wanted end, and after a crash it does what
        network.whenDown says.

        dhcp-probe asks for ten seconds whether a DHCP server answers on a link, and names those that do.

        Exit codes:
        \(ExitCode.table.split(separator: "\n").joined(separator: "\n"))

        """
}
