# fish completion for starshipd(8)

set -l words run check plan explain cleanup settings ended dhcp-probe
complete -c starshipd -f
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -a "run" -d "carry devices, as the service does"
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -a "check" -d "say what a configuration means"
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -a "plan" -d "say what a start would change"
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -a "explain" -d "say what becomes of a flow"
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -a "cleanup" -d "remove what a killed run has left"
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -a "settings" -d "make the settings of the kernel"
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -a "ended" -d "what the unit calls behind an end"
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -a "dhcp-probe" -d "ask a link for DHCP servers"
complete -c starshipd -n "__fish_seen_subcommand_from check plan" -F
complete -c starshipd -n "__fish_seen_subcommand_from dhcp-probe" -a "(path basename /sys/class/net/*)"
complete -c starshipd -n "not __fish_seen_subcommand_from cleanup dhcp-probe" -l config -r -F
complete -c starshipd -n "not __fish_seen_subcommand_from explain cleanup settings ended dhcp-probe" -l upstream -x
complete -c starshipd -n "__fish_seen_subcommand_from check plan" -l state -r -F
complete -c starshipd -n "__fish_seen_subcommand_from explain" -l from -x
complete -c starshipd -n "__fish_seen_subcommand_from explain" -l udp
complete -c starshipd -n "__fish_seen_subcommand_from settings" -l before-start
for one in upstream-file capture
    complete -c starshipd -n "not __fish_seen_subcommand_from check plan explain cleanup settings ended dhcp-probe" -l $one -r -F
end
for one in capture-filter capture-snap capture-size capture-files
    complete -c starshipd -n "not __fish_seen_subcommand_from check plan explain cleanup settings ended dhcp-probe" -l $one -x
end
complete -c starshipd -n "not __fish_seen_subcommand_from check plan explain cleanup settings ended dhcp-probe" -l no-lockdown
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -l version
complete -c starshipd -n "not __fish_seen_subcommand_from $words" -l help
