/// What `--help` prints, from the table.

enum HelpText {
    /// The width that no line passes.
    static let width = 80

    private static let introduction = """
        starshipctl puts test devices on another proxy, and says why one is not.

        From nothing to a switched device:

          sudo starshipd --config lab.json5            the gateway
          starshipctl status                           is it up? Does its proxy work?
          starshipctl devices                          who is there: find your phone
          starshipctl devices name 10.9.0.23 pixel-7   give it a name
          starshipctl profiles                         the environments that there are
          starshipctl use whistle-qa --device pixel-7  there it is
          starshipctl why pixel-7                      it isn't? At which step, and why

        """

    private static let conclusion = """

        Everywhere: --json, --socket PATH, --color WHEN, --help.
        starshipctl COMMAND --help says more about a command.

        Exit codes: 0 done, 1 refused or failed, 3 no daemon, 64 wrong arguments;
        of status: 0 green, 1 yellow or grey, 2 red.

        """

    /// The first screen: the way to a switched device, then all commands.
    static let overview: String = {
        var text = introduction
        for group in CommandDescription.Group.allCases {
            text += "\n\(group.rawValue)\n"
            var rows: [(String, String)] = []
            for command in CommandTable.commands where command.group == group {
                rows.append((command.name, command.summary))
            }
            text += columns(rows, indent: 2, least: 16)
        }
        return text + conclusion
    }()

    /// Everything about the commands that begin with one word.
    static func text(of commands: [CommandDescription]) -> String {
        commands.map(text).joined(separator: "\n")
    }

    private static func text(of command: CommandDescription) -> String {
        var text = wrapped("usage: " + command.usage, indent: 7) + "\n\n"
        text += wrapped(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".", indent: 0) + "\n"
        if !command.details.isEmpty { text += command.details + "\n" }
        let own = command.options.map { ("\($0.name)\($0.value.map { " " + $0 } ?? "")", $0.summary) }
        let global = CommandDescription.Option.global
            .filter { $0.name != "--json" || command.hasJSON }
            .map { ("\($0.name)\($0.value.map { " " + $0 } ?? "")", $0.summary) }
        text += "\n" + columns(own + global, indent: 2, least: 18)
        if !command.examples.isEmpty {
            text += "\n" + command.examples.map { "  \($0)\n" }.joined()
        }
        return text
    }

    /// Two columns, the second one wrapped.
    private static func columns(_ rows: [(String, String)], indent: Int, least: Int) -> String {
        let first = max(least, rows.map(\.0.count).max() ?? 0)
        var text = ""
        for row in rows {
            let line =
                String(repeating: " ", count: indent) + row.0
                + String(repeating: " ", count: first - row.0.count + 2) + row.1
            text += wrapped(line, indent: indent + first + 2) + "\n"
        }
        return text
    }

    /// Breaks a line at blanks; what follows is indented.
    static func wrapped(_ line: String, indent: Int) -> String {
        var lines: [String] = []
        var rest = line[...]
        while rest.count > width {
            let head = rest.prefix(width + 1)
            guard let blank = head.lastIndex(of: " "), rest[..<blank].contains(where: { $0 != " " }) else { break }
            lines.append(String(rest[..<blank]))
            rest = String(repeating: " ", count: indent) + rest[rest.index(after: blank)...]
        }
        return (lines + [String(rest)]).joined(separator: "\n")
    }
}
