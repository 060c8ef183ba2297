/// All commands, and the way from arguments to one of them.

internal import Bytes
internal import Profiles
internal import Routing

/// The table, and reading by it.
public enum CommandTable {
    static let commands: [CommandDescription] =
        switching + lists + links + looking + wishes + health + linting + diagnosis + configuration + revisions
        + besides

    /// Reads the arguments without the program's name.
    public static func parse(_ arguments: [String]) throws(ArgumentError) -> Invocation {
        var words = ArgumentWords()
        try words.take(arguments)
        guard let first = words.plain.first else {
            if words.isHelp || arguments.isEmpty { return Invocation(command: .help(HelpText.overview)) }
            if words.isVersion { return try words.invocation(.version) }
            throw ArgumentError("", "found no command; expected one", hint: "starshipctl --help")
        }
        if first == "help" {
            let topic = Array(words.plain.dropFirst())
            guard !topic.isEmpty else { return Invocation(command: .help(HelpText.overview)) }
            return Invocation(command: .help(HelpText.text(of: try topics(topic))))
        }
        let description = try description(words.plain)
        if words.isHelp { return Invocation(command: .help(HelpText.text(of: try topics(words.plain)))) }
        let arguments = try words.arguments(of: description)
        var invocation = try words.invocation(description.read(arguments))
        invocation.name = description.name
        guard !invocation.isJSON || description.hasJSON else {
            throw arguments.error("found --json; expected none: it prints no answer of the daemon")
        }
        return invocation
    }

    /// The row that the words begin with: the longer one where two fit.
    private static func description(_ words: [String]) throws(ArgumentError) -> CommandDescription {
        let rows = try rows(words[0])
        if words.count > 1, let row = rows.first(where: { $0.words == Array(words.prefix(2)) }) { return row }
        if let row = rows.first(where: { $0.words.count == 1 }) { return row }
        let choices = rows.map { $0.words[1] }
        let near = words.count > 1 ? NearMiss.suggestion(for: words[1], among: choices) : nil
        throw ArgumentError(
            words[0],
            "found \(words.count > 1 ? Shown.text(words[1]) : "nothing"); expected "
                + choices.joined(separator: " or "), hint: near.map { "did you mean `\(words[0]) \($0)`?" })
    }

    /// The rows that begin with a word.
    private static func rows(_ word: String) throws(ArgumentError) -> [CommandDescription] {
        let rows = commands.filter { $0.words[0] == word }
        guard rows.isEmpty else { return rows }
        var names: [String] = []
        for row in commands where !names.contains(row.words[0]) { names.append(row.words[0]) }
        let near = NearMiss.suggestion(for: word, among: names + ["help"])
        throw ArgumentError(
            "", "found the unknown command \(Shown.text(word)); expected one of those that starshipctl --help lists",
            hint: near.map { "did you mean `\($0)`?" })
    }

    /// The rows that help is wanted for.
    private static func topics(_ words: [String]) throws(ArgumentError) -> [CommandDescription] {
        let rows = try rows(words[0])
        let exact = rows.filter { words.count > 1 && $0.words == Array(words.prefix(2)) }
        return exact.isEmpty ? rows : exact
    }
}

/// Arguments cut into words and options, before anybody asked which command's they are.
private struct ArgumentWords {
    var plain: [String] = []
    var options: [(name: String, value: String?)] = []
    var isHelp: Bool { options.contains { $0.name == "--help" } }
    var isVersion: Bool { options.contains { $0.name == "--version" } }

    private typealias Option = CommandDescription.Option

    /// The first option of a name; those of one name take a value everywhere or nowhere.
    private static func known(_ name: String) -> Option? {
        if name == "--version" { return Option(name: name, summary: "") }
        return (Option.global + CommandTable.commands.flatMap(\.options)).first { $0.name == name }
    }

    mutating func take(_ arguments: [String]) throws(ArgumentError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                plain += rest
                return
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                plain.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0] == "-h" ? "--help" : String(parts[0])
            // A wrong one is refused later, by the command, which knows what it might have been.
            let option = Self.known(name)
            var value = parts.count == 2 ? String(parts[1]) : nil
            if let option, option.value != nil, value == nil {
                // What looks like an option is none's value.
                if let next = rest.first, !next.hasPrefix("--") { value = rest.popFirst() }
            }
            options.append((name, value))
        }
    }

    /// What is left for a command, checked against what it takes.
    func arguments(of command: CommandDescription) throws(ArgumentError) -> Arguments {
        var arguments = Arguments(command: command.name, operands: Array(plain.dropFirst(command.words.count)))
        let known = command.options + Option.global
        for (name, value) in options {
            guard let option = known.first(where: { $0.name == name }) else { throw unknown(name, command) }
            guard arguments.values[name] == nil else {
                throw arguments.error("found \(name) twice; expected each option once")
            }
            guard option.value != nil || value == nil else {
                throw arguments.error("\(name): found a value; expected none")
            }
            guard option.value == nil || value?.isEmpty == false else {
                throw arguments.error("\(name): found no value; expected \(name) \(option.value ?? "")")
            }
            arguments.values[name] = value ?? ""
        }
        let least = command.operands.count { !$0.isOptional }
        guard arguments.operands.count >= least else {
            let missing = command.operands[arguments.operands.count]
            throw arguments.error("found no \(missing.name); expected `\(command.usage)`")
        }
        guard arguments.operands.count <= command.operands.count else {
            let extra = arguments.operands[command.operands.count]
            throw arguments.error("found \(Shown.text(extra)) too much; expected `\(command.usage)`")
        }
        guard !arguments.operands.contains("") else {
            throw arguments.error("found an empty argument; expected `\(command.usage)`")
        }
        return arguments
    }

    private func unknown(_ name: String, _ command: CommandDescription) -> ArgumentError {
        let shown = name.utf8.allSatisfy { $0 == 0x2d || Unicode.Scalar($0).isPlain } ? name : "an option"
        if let home = CommandTable.commands.first(where: { $0.options.contains { $0.name == name } }) {
            return ArgumentError(
                command.name, "found \(shown.prefix(40)), an option of `\(home.name)`; expected one of its own",
                hint: "starshipctl \(command.name) --help")
        }
        let near = NearMiss.suggestion(for: name, among: (command.options + Option.global).map(\.name))
        return ArgumentError(
            command.name, "found the unknown option \(shown.prefix(40)); expected one of its own",
            hint: near.map { "did you mean \($0)?" } ?? "starshipctl \(command.name) --help")
    }

    /// The command with what is said of the program as a whole.
    func invocation(_ command: Command) throws(ArgumentError) -> Invocation {
        var invocation = Invocation(command: command)
        for (name, value) in options {
            switch name {
            case "--socket":
                guard let value, value.utf8.count <= 107 else {
                    throw ArgumentError("", "--socket: found a path of more than 107 octets; expected a shorter one")
                }
                invocation.socket = value
            case "--json": invocation.isJSON = true
            case "--color":
                guard let choice = Invocation.ColourChoice(rawValue: value ?? "") else {
                    throw ArgumentError(
                        "", "--color: found \(Shown.text(value ?? "")); expected never, auto or always")
                }
                invocation.colour = choice
            default: break
            }
        }
        return invocation
    }
}

extension Unicode.Scalar {
    /// An ASCII letter or digit.
    fileprivate var isPlain: Bool { properties.isAlphabetic && isASCII || ("0"..."9") ~= self }
}
