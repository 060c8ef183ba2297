/// Completion: what a shell offers while a command is typed, from the table.
///
/// Each script finds the command in the words that are there, then offers its options or what may stand in the next
/// place. Ids and names it asks of `starshipctl completion --list`, which says nothing where there is no daemon.

/// The shells that there are scripts for.
enum Shell: String, CaseIterable {
    case bash
    case zsh
    case fish

    var script: String {
        switch self {
        case .bash: bashScript
        case .zsh: zshScript
        case .fish: fishScript
        }
    }

    /// The first words of commands, each once, with what they are for.
    static var firstWords: [(word: String, summary: String)] {
        var words: [(word: String, summary: String)] = []
        for command in CommandTable.commands where !words.contains(where: { $0.word == command.words[0] }) {
            words.append((command.words[0], command.summary))
        }
        return words + [("help", "what a command does")]
    }

    /// The second words that follow a first one.
    static func secondWords(after word: String) -> [String] {
        CommandTable.commands.filter { $0.words.count == 2 && $0.words[0] == word }.map { $0.words[1] }
    }

    /// Names of options that take a value, wherever.
    static var valued: [String] {
        var names: [String] = []
        let all = CommandDescription.Option.global + CommandTable.commands.flatMap(\.options)
        for option in all where option.value != nil && !names.contains(option.name) { names.append(option.name) }
        return names
    }

    static func options(of command: CommandDescription) -> [CommandDescription.Option] {
        command.options + CommandDescription.Option.global.filter { $0.name != "--json" || command.hasJSON }
    }

    /// What may stand in each place behind a command's words, where something can be offered.
    ///
    /// `seconds` are second words of other commands that may stand there as well. A first word that is no command by
    /// itself is followed by its second words alone; they come with the first of its commands.
    static func places(
        of command: CommandDescription
    ) -> [(name: String, candidates: Candidates, seconds: [String])] {
        let seconds = command.words.count == 1 ? secondWords(after: command.name) : []
        var places: [(name: String, candidates: Candidates, seconds: [String])] = []
        for (place, operand) in command.operands.enumerated() {
            let seconds = place == 0 ? seconds : []
            guard operand.candidates != .none || !seconds.isEmpty else { continue }
            places.append(("\(command.name) \(place)", operand.candidates, seconds))
        }
        let first = command.words[0]
        if command.words.count == 2, !CommandTable.commands.contains(where: { $0.words == [first] }),
            command.words[1] == secondWords(after: first).first
        {
            places.append(("\(first) 0", .words(secondWords(after: first)), []))
        }
        return places
    }

    /// What follows a value's option, by the option: those of one name mean the same in all commands.
    static var candidatesByOption: [(name: String, candidates: Candidates)] {
        let all = CommandDescription.Option.global + CommandTable.commands.flatMap(\.options)
        return valued.compactMap { name in
            all.first { $0.name == name }.flatMap { $0.candidates == .none ? nil : (name, $0.candidates) }
        }
    }
}

extension Shell {
    /// A text in single quotes, as sh reads it.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
