/// Completion for fish.

extension Shell {
    var fishScript: String {
        """
        # fish completion of starshipctl; made by `starshipctl completion fish`.
        # Says whether the words that are there are this command, and so many arguments of it.
        function __starshipctl_at
            set -l plain
            set -l skip no
            for word in (commandline -opc)[2..-1]
                if test $skip = yes
                    set skip no
                    continue
                end
                switch $word
                    case \(Self.valued.joined(separator: " "))
                        set skip yes
                    case '-*'
                    case '*'
                        set -a plain $word
                end
            end
            set -l name $plain[1]
            if contains -- "$plain[1] $plain[2]" \(Self.twoWords.map(Self.quoted).joined(separator: " "))
                set name "$plain[1] $plain[2]"
            end
            test "$name" = "$argv[1]"; or return 1
            test (count $argv) -eq 1; and return 0
            test (math (count $plain) - (count (string split -n ' ' -- $name))) -eq $argv[2]
        end
        complete -c starshipctl -f
        complete -c starshipctl -n '__starshipctl_at ""' -l version -d 'the version'
        \(Self.firstWords.map(Self.fishWord).lines)
        \(CommandTable.commands.flatMap(Self.fishCommand).lines)

        """
    }

    private static func fishWord(_ word: String, _ summary: String) -> String {
        "complete -c starshipctl -n '__starshipctl_at \"\"' -a \(word) -d \(fishQuoted(summary))"
    }

    /// A text in single quotes, as fish reads it.
    private static func fishQuoted(_ text: String) -> String {
        var quoted = "'"
        for character in text { quoted += character == "'" || character == "\\" ? "\\\(character)" : "\(character)" }
        return quoted + "'"
    }

    private static func fishOffer(_ candidates: Candidates) -> String {
        switch candidates {
        case .none: ""
        case .files: " -F"
        case .profiles: " -a '(command starshipctl completion --list profiles 2>/dev/null)'"
        case .devices: " -a '(command starshipctl completion --list devices 2>/dev/null)'"
        case .words(let words): " -a '\(words.joined(separator: " "))'"
        }
    }

    private static func fishCommand(_ command: CommandDescription) -> [String] {
        let condition = { (place: Int) in "complete -c starshipctl -n '__starshipctl_at \"\(command.name)\" \(place)'" }
        var lines: [String] = []
        if command.words.count == 2 {
            let first = "complete -c starshipctl -n '__starshipctl_at \"\(command.words[0])\" 0'"
            lines.append("\(first) -a \(command.words[1]) -d \(fishQuoted(command.summary))")
        }
        for (place, operand) in command.operands.enumerated() where operand.candidates != .none {
            lines.append(condition(place) + fishOffer(operand.candidates))
        }
        for option in options(of: command) {
            let kind = option.candidates == .files ? " -r" : " -x"
            let value = option.value == nil ? "" : kind + fishOffer(option.candidates)
            lines.append(
                "complete -c starshipctl -n '__starshipctl_at \"\(command.name)\"' -l \(option.name.dropFirst(2))"
                    + "\(value) -d \(fishQuoted(option.summary))")
        }
        return lines
    }
}
