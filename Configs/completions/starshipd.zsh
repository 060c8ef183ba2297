#compdef starshipd
# zsh completion for starshipd(8)

_starshipd() {
    local -a commands options interfaces
    commands=(
        'run:carry devices, as the service does'
        'check:say what a configuration means, or what is wrong with it'
        'plan:say what a start would change in the network'
        'explain:say what becomes of a flow, and why'
        'cleanup:remove what a killed run has left'
        'settings:make the settings of the kernel, as root'
        'ended:what the unit calls behind an end'
        'dhcp-probe:ask a link for DHCP servers'
    )
    case $words[CURRENT-1] in
        --config|--upstream-file|--capture|--state) _files; return ;;
        --upstream|--capture-filter|--capture-snap|--capture-size|--capture-files|--from) return ;;
        dhcp-probe) interfaces=(/sys/class/net/*(N:t)); compadd -a interfaces; return ;;
    esac
    case $words[2] in
        check|plan) options=(--config --upstream --state) ;;
        explain) options=(--config --from --udp) ;;
        settings) options=(--config --before-start) ;;
        ended) options=(--config) ;;
        cleanup|dhcp-probe) options=() ;;
        *) options=(
            --config --upstream --upstream-file --capture --capture-filter --capture-snap --capture-size
            --capture-files --no-lockdown
        ) ;;
    esac
    if ((CURRENT == 2)) && [[ $words[CURRENT] != -* ]]; then
        _describe command commands
    elif [[ $words[CURRENT] != -* && ($words[2] == check || $words[2] == plan) ]]; then
        _files
    else
        ((CURRENT > 2)) || options+=(--version --help)
        compadd -a options
    fi
}
_starshipd "$@"
