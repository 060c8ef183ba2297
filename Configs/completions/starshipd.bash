# bash completion for starshipd(8)

_starshipd() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]:-}
    local commands="run check plan explain cleanup settings ended dhcp-probe"
    local options=""
    COMPREPLY=()
    case $before in
        --config | --upstream-file | --capture | --state)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        dhcp-probe)
            mapfile -t COMPREPLY < <(cd /sys/class/net && compgen -f -- "$word")
            return
            ;;
        --upstream | --capture-filter | --capture-snap | --capture-size | --capture-files | --from) return ;;
    esac
    case $command in
        check | plan) options="--config --upstream --state" ;;
        explain) options="--config --from --udp" ;;
        settings) options="--config --before-start" ;;
        ended) options="--config" ;;
        cleanup | dhcp-probe) options="" ;;
        *)
            options="--config --upstream --upstream-file --capture --capture-filter --capture-snap --capture-size"
            options+=" --capture-files --no-lockdown"
            ((COMP_CWORD > 1)) || options+=" --version --help"
            ;;
    esac
    if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
    elif [[ $word != -* && ($command == check || $command == plan) ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    fi
}
complete -o filenames -F _starshipd starshipd
