/// Completion for bash.

extension Shell {
    var bashScript: String {
        """
        # bash completion of starshipctl; made by `starshipctl completion bash`.
        _starshipctl_list() { command starshipctl completion --list "$1" 2>/dev/null; }
        _starshipctl_offer() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
        _starshipctl() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} index
            local -a plain=()
            COMPREPLY=()
            for ((index = 1; index < COMP_CWORD; index++)); do
                case ${COMP_WORDS[index]} in
                    \(Self.valued.joined(separator: "|"))) ((index++)) ;;
                    -*) ;;
                    *) plain+=("${COMP_WORDS[index]}") ;;
                esac
            done
            case $previous in
        \(Self.candidatesByOption.map { "        \($0.name)) \(Self.bashOffer($0.candidates)); return ;;" }.lines)
                \(Self.valuedWithout.joined(separator: "|"))) return ;;
            esac
            if ((${#plain[@]} == 0)); then
                case $current in
                    -*) _starshipctl_offer '--help --version' ;;
                    *) _starshipctl_offer '\(Self.firstWords.map(\.word).joined(separator: " "))' ;;
                esac
                return
            fi
            local name=${plain[0]} place
            case "${plain[0]} ${plain[1]-}" in
                \(Self.twoWords.map { "'\($0)'" }.joined(separator: "|"))) name="${plain[0]} ${plain[1]}" ;;
            esac
            local -a words=($name)
            place=$((${#plain[@]} - ${#words[@]}))
            case $current in
                -*)
                    case $name in
        \(CommandTable.commands.map(Self.bashOptions).lines)
                    esac
                    return ;;
            esac
            case "$name $place" in
        \(CommandTable.commands.flatMap(Self.bashOperands).lines)
            esac
        }
        complete -F _starshipctl starshipctl

        """
    }

    /// Commands of two words, and those of `help`.
    static var twoWords: [String] { CommandTable.commands.filter { $0.words.count == 2 }.map(\.name) }

    /// Options whose values nobody can guess.
    static var valuedWithout: [String] {
        let known = candidatesByOption.map(\.name)
        return valued.filter { !known.contains($0) }
    }

    private static func bashOffer(_ candidates: Candidates) -> String {
        switch candidates {
        case .none: ":"
        case .files: "COMPREPLY=($(compgen -f -- \"$current\"))"
        case .profiles: "_starshipctl_offer \"$(_starshipctl_list profiles)\""
        case .devices: "_starshipctl_offer \"$(_starshipctl_list devices)\""
        case .words(let words): "_starshipctl_offer '\(words.joined(separator: " "))'"
        }
    }

    private static func bashOptions(_ command: CommandDescription) -> String {
        let names = options(of: command).map(\.name).joined(separator: " ")
        return "                '\(command.name)') _starshipctl_offer '\(names)' ;;"
    }

    private static func bashOperands(_ command: CommandDescription) -> [String] {
        places(of: command).map { place in
            let seconds = place.seconds.joined(separator: " ")
            let more = seconds.isEmpty ? "" : "; COMPREPLY+=($(compgen -W '\(seconds)' -- \"$current\"))"
            return "        '\(place.name)') \(bashOffer(place.candidates))\(more) ;;"
        }
    }
}

extension [String] {
    /// One under the other.
    var lines: String { joined(separator: "\n") }
}
