/// Completion for zsh.

extension Shell {
    var zshScript: String {
        """
        #compdef starshipctl
        # zsh completion of starshipctl; made by `starshipctl completion zsh`.
        _starshipctl_list() { compadd -- ${(f)"$(command starshipctl completion --list $1 2>/dev/null)"} }
        _starshipctl() {
            local index name
            local -a plain parts offered
            for ((index = 2; index < CURRENT; index++)); do
                case ${words[index]} in
                    \(Self.valued.joined(separator: "|"))) ((index++)) ;;
                    -*) ;;
                    *) plain+=("${words[index]}") ;;
                esac
            done
            case ${words[CURRENT-1]} in
        \(Self.candidatesByOption.map { "        \($0.name)) \(Self.zshOffer($0.candidates)); return ;;" }.lines)
                \(Self.valuedWithout.joined(separator: "|"))) return ;;
            esac
            if (($#plain == 0)); then
                if [[ ${words[CURRENT]} == -* ]]; then
                    compadd -- --help --version
                else
                    offered=(
        \(Self.firstWords.map { "                \(Self.described($0.word, $0.summary))" }.lines)
                    )
                    _describe command offered
                fi
                return
            fi
            name=${plain[1]}
            case "${plain[1]} ${plain[2]-}" in
                \(Self.twoWords.map { "'\($0)'" }.joined(separator: "|"))) name="${plain[1]} ${plain[2]}" ;;
            esac
            parts=(${=name})
            if [[ ${words[CURRENT]} == -* ]]; then
                case $name in
        \(CommandTable.commands.map(Self.zshOptions).lines)
                esac
                _describe option offered
                return
            fi
            case "$name $(($#plain - $#parts))" in
        \(CommandTable.commands.flatMap(Self.zshOperands).lines)
            esac
        }
        if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _starshipctl "$@"; else compdef _starshipctl starshipctl; fi

        """
    }

    private static func zshOffer(_ candidates: Candidates) -> String {
        switch candidates {
        case .none: ":"
        case .files: "_files"
        case .profiles: "_starshipctl_list profiles"
        case .devices: "_starshipctl_list devices"
        case .words(let words): "compadd -- \(words.joined(separator: " "))"
        }
    }

    /// A word and what it is for, as `_describe` takes both.
    private static func described(_ word: String, _ summary: String) -> String {
        quoted("\(word):" + summary.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:"))
    }

    private static func zshOptions(_ command: CommandDescription) -> String {
        let options = options(of: command).map { described($0.name, $0.summary) }.joined(separator: " ")
        return "            '\(command.name)') offered=(\(options)) ;;"
    }

    private static func zshOperands(_ command: CommandDescription) -> [String] {
        places(of: command).map { place in
            let more = place.seconds.isEmpty ? "" : "; compadd -- \(place.seconds.joined(separator: " "))"
            return "        '\(place.name)') \(zshOffer(place.candidates))\(more) ;;"
        }
    }
}
