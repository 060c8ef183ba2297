# shellcheck shell=bash
# Networks of the gateway's own: an access point (`--ap IFACE --ssid NAME`), or DHCP on a card (`--dhcp IFACE`).
#
# Sourced, never run, behind setup.sh, whose names it uses. scripts/install has it, the .deb's maintainer scripts, and
# /usr/lib/starship/setup, so that an installed gateway gets such a network, and loses it, without the source tree.
#
#     lan.sh, here       lan_option takes the command line's words, lan_check and lan_probe refuse what can't be, before
#                        anything is changed
#     lan-make.sh        lan_install, lan_start, lan_enable; lan_stop, lan_remove; lan_keep, lan_put_back
#     lan-command.sh     lan_plan, lan_say, and lan_command, which is all of it on an installed gateway
#
# What a network is made of, each file with our mark in its first line:
#
#     /etc/starship/dhcp/IFACE.conf                   dnsmasq's part, read by starship-dhcp.service and nobody else: the
#                                                     distribution's dnsmasq, if there is one, keeps its own settings
#     /etc/systemd/network/05-starship-IFACE.network  the interface's address; where systemd-networkd doesn't run,
#                                                     starship-dhcp.service reads it from there (lan_addresses)
#     /etc/NetworkManager/conf.d/starship-IFACE.conf  hands off, where NetworkManager is
#     /etc/hostapd/IFACE.conf                         an access point: read by Debian's hostapd@IFACE.service
#
# Everything that is written is under $lan_root (empty: this machine), so that it can be tested.
# shellcheck disable=SC2154,SC2034

lan_root=${lan_root:-}
lan_mark='# Written by the installation of Starship Gateway, which removes it as well.'
# The second line of a .network file where the interface had its address before us, and keeps it.
lan_mark_address='# The address was there before.'
lan_unit=starship-dhcp.service
lan_state=/var/lib/starship-dhcp
# What starshipd reads of it: the names that devices tell dnsmasq.
lan_leases=$lan_state/leases
lan_sys=/sys/class/net

# What is asked for, in the order of the command line; then by interface.
lan_interfaces=()
declare -A lan_ssids=() lan_addresses=()
# Those whose access point is new, and whose passphrase nobody has seen yet.
lan_new_ap=()

# The command line

# Takes one option with its value; the ones behind --ap or --dhcp belong to that network.
lan_option() {
    local last=''
    ((!${#lan_interfaces[@]})) || last=${lan_interfaces[-1]}
    case $1 in
        --ap | --dhcp)
            lan_check_name "$1" "$2"
            [[ " ${lan_interfaces[*]} " != *" $2 "* ]] || fail "$2 stands twice" "one network for each interface"
            lan_interfaces+=("$2")
            # Not said yet: lan_check wants one.
            [[ $1 != --ap ]] || lan_ssids[$2]=''
            ;;
        --ssid)
            [[ $last && -v lan_ssids[$last] && ! ${lan_ssids[$last]} ]] ||
                fail "--ssid names the Wi-Fi of the --ap before it" "--ap wlan0 --ssid NAME"
            lan_check_ssid "$2"
            lan_ssids[$last]=$2
            ;;
        --lan-address)
            [[ $last && ! -v lan_addresses[$last] ]] ||
                fail "--lan-address is the gateway's address on the network before it" \
                    "--dhcp eth1 --lan-address 192.168.50.1/24"
            lan_prefix "$2" >/dev/null
            lan_addresses[$last]=$2
            ;;
    esac
}

lan_check_name() {
    [[ $2 =~ ^[A-Za-z0-9._][A-Za-z0-9._-]{0,14}$ && $2 != . && $2 != .. ]] ||
        fail "$1: found $2; expected the name of an interface" "ip -brief link shows them"
}

# The name of a Wi-Fi has 1 to 32 octets (IEEE 802.11, 9.4.2.2); no line feed, or it would be a setting.
lan_check_ssid() {
    local LC_ALL=C
    ((${#1} >= 1 && ${#1} <= 32)) || fail "--ssid has ${#1} octets; expected 1 to 32"
    [[ $1 != *[[:cntrl:]]* ]] || fail "--ssid has control characters; expected a name on one line"
    [[ $1 != ' '* && $1 != *' ' ]] || fail "--ssid begins or ends with a blank, which nobody could type again"
}

# The first three numbers of an address with a prefix of 24 bits: `192.168.50.1/24`. Devices get .50 to .250.
lan_prefix() {
    local number='(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
    [[ $1 =~ ^$number\.$number\.$number\.$number/24$ ]] ||
        fail "found $1; expected the gateway's address on that network, such as 192.168.50.1/24"
    ((BASH_REMATCH[1] > 0 && BASH_REMATCH[1] < 224 && BASH_REMATCH[1] != 127)) ||
        fail "found $1; expected an address that a machine can have, such as 192.168.50.1/24"
    ((BASH_REMATCH[4] > 0 && BASH_REMATCH[4] < 255 && (BASH_REMATCH[4] < 50 || BASH_REMATCH[4] > 250))) ||
        fail "found $1; its last number is to be 1 to 49 or 251 to 254" "devices get .50 to .250"
    say "${1%.*}"
}

# What stands on the machine

# The interfaces that have a file of ours, one a line.
lan_networks() {
    local file name
    for file in "$lan_root"/etc/{starship/dhcp,hostapd}/*.conf "$lan_root"/etc/systemd/network/05-starship-*.network \
        "$lan_root"/etc/NetworkManager/conf.d/starship-*.conf; do
        lan_is_ours "$file" || continue
        name=${file##*/}
        name=${name#05-starship-}
        [[ $file != */NetworkManager/* ]] || name=${name#starship-}
        name=${name%.conf}
        say "${name%.network}"
    done | sort -u
}

lan_is_ours() { [[ $(head -n 1 "$1" 2>/dev/null) == "$lan_mark" ]]; }

# Every file that a network on this interface may have.
lan_files() {
    say "/etc/hostapd/$1.conf" "/etc/starship/dhcp/$1.conf" "$(lan_network_file "$1")" \
        "/etc/NetworkManager/conf.d/starship-$1.conf"
}

# It sorts before what netplan writes, 10-netplan-….
lan_network_file() { say "/etc/systemd/network/05-starship-$1.network"; }

# The address that our file gives an interface; nothing where there is none.
lan_address() { sed -n 's/^Address=//p' "$lan_root$(lan_network_file "$1")" 2>/dev/null || true; }

# Gives each network that was asked for an address: the one that it has, or else the next one from 192.168.50.1 on.
lan_choose_addresses() {
    local interface number=50 taken
    taken=" ${lan_addresses[*]} $(while read -r interface; do lan_address "$interface"; done < <(lan_networks) | tr '\n' ' ')"
    for interface in "${lan_interfaces[@]}"; do
        [[ ! -v lan_addresses[$interface] ]] || continue
        lan_addresses[$interface]=$(lan_address "$interface")
        while [[ ! ${lan_addresses[$interface]} ]]; do
            [[ $taken == *" 192.168.$number."* ]] || lan_addresses[$interface]=192.168.$number.1/24
            number=$((number + 1))
        done
        taken+="${lan_addresses[$interface]} "
    done
}

# Checks, before anything is changed

# Refuses what can't be a network of the gateway's own; the configuration is looked at by lan_check_configuration.
lan_check() {
    local interface other
    lan_choose_addresses
    for interface in "${lan_interfaces[@]}"; do
        lan_check_interface "$interface"
        [[ ! -v lan_ssids[$interface] ]] || lan_check_ap "$interface" "${lan_ssids[$interface]}"
        lan_check_address "$interface" "${lan_addresses[$interface]}"
        lan_check_files "$interface"
        for other in "${lan_interfaces[@]}"; do
            [[ $other == "$interface" || ${lan_addresses[$other]%.*} != "${lan_addresses[$interface]%.*}" ]] ||
                fail "$interface and $other have one network, ${lan_addresses[$other]}" "--lan-address names another one"
        done
    done
    ((!${#lan_interfaces[@]})) || lan_check_port
}

# An Ethernet link (Wi-Fi is one for the kernel) that is nobody else's, and not this machine's own way out.
lan_check_interface() {
    local master
    lan_check_name "the interface" "$1"
    [[ -e $lan_sys/$1 ]] || fail "there is no interface $1" "ip -brief link shows those that are there"
    [[ $(<"$lan_sys/$1/type") == 1 ]] || fail "$1 is no Ethernet link, so devices can't be on it"
    if [[ -e $lan_sys/$1/master ]]; then
        master=$(readlink "$lan_sys/$1/master")
        fail "$1 is a part of ${master##*/}" "devices would get addresses on ${master##*/}: name that one"
    fi
    [[ ! $(ip -4 route show default dev "$1" 2>/dev/null)$(ip -6 route show default dev "$1" 2>/dev/null) ]] ||
        fail "$1 is this machine's own way out (ip route show default), so it can't be a network of its own" \
            "with a single card: README, Ways onto the gateway, one arm"
}

lan_check_ap() {
    local phy switch
    lan_check_interface "$1"
    [[ -e $lan_sys/$1/phy80211 ]] ||
        fail "$1 has no radio" "an access point needs a Wi-Fi interface; with one that hangs on a cable: --dhcp $1"
    [[ $2 ]] || fail "the access point on $1 needs a name" "--ap $1 --ssid NAME"
    lan_check_ssid "$2"
    for switch in "$lan_sys/$1/phy80211"/rfkill*; do
        [[ $(cat "$switch/soft" 2>/dev/null) != 1 ]] || fail "the radio of $1 is switched off" "rfkill unblock wifi"
        [[ $(cat "$switch/hard" 2>/dev/null) != 1 ]] ||
            fail "the radio of $1 is switched off by a switch or by the firmware"
    done
    # Without iw(8) it is hostapd that says so.
    command -v iw >/dev/null || return 0
    phy=$(cat "$lan_sys/$1/phy80211/name" 2>/dev/null) || return 0
    ! phy=$(iw phy "$phy" info 2>/dev/null) || [[ $phy =~ $'\n'[[:blank:]]*\*\ AP$'\n' ]] ||
        fail "the radio of $1 can't be an access point" "iw phy: Supported interface modes has no AP"
}

# The address, or its network, must not be in use: devices would lose what is there, or this machine would.
lan_check_address() {
    local present routes
    present=$(ip -4 -o address show dev "$1" scope global 2>/dev/null | awk '{ print $4 }')
    [[ ! $present || $present == "$2" || $present == "$(lan_address "$1")" ]] ||
        fail "$1 has the address ${present//$'\n'/, } already, so it is in use" \
            "to keep it: --lan-address ${present%%$'\n'*}; else take it off in the settings of your network"
    # Routes within it, and those that it is within.
    routes=$({ ip -4 route show root "${2%.*}.0/24" && ip -4 route show match "${2%.*}.0/24"; } 2>/dev/null |
        grep -v "^default\| dev ${1//./[.]}\( \|$\)" | head -n 1) || true
    [[ ! $routes ]] || fail "the network ${2%.*}.0/24, for $1, is somewhere else: ${routes% }" \
        "--lan-address names another one, such as 192.168.73.1/24"
}

# Files that are somebody else's are left to them.
lan_check_files() {
    local file
    while read -r file; do
        [[ ! -e $lan_root$file ]] || lan_is_ours "$lan_root$file" ||
            fail "$file is there and not from this installation, so it isn't written over" "move it away, or do without"
    done < <(lan_files "$1")
}

# A DHCP server of this very machine doesn't hear its own link's questions.
lan_check_port() {
    local line own=0 place interface
    # Whose a socket is only root is told.
    ((EUID == 0)) || return 0
    ! systemd_runs || own=$(systemctl show -p MainPID --value "$lan_unit" 2>/dev/null) || true
    while read -r line; do
        place=$(awk '{ print $4 }' <<<"$line")
        [[ $line != *"pid=${own:-0},"* ]] || continue
        for interface in "${lan_interfaces[@]}"; do
            [[ $place == *%* && $place != *"%$interface:"* ]] ||
                fail "a DHCP server runs on this machine already, for all interfaces or for $interface" "$line" \
                    "end it, or keep it to its own interfaces (dnsmasq: bind-interfaces)"
        done
    done < <(ss -H -lunp 'sport = :67' 2>/dev/null)
}

# The configuration that is there must have the interfaces as its LAN, or devices would get a router that carries
# nothing: lan_check_configuration STARSHIPD.
lan_check_configuration() {
    local words interface named=''
    ((${#lan_interfaces[@]})) && [[ -e $configuration ]] || return 0
    words=$("$1" check "$configuration" 2>&1) || fail "$configuration is wrong" "$words"
    [[ ! $words =~ network\ [^$'\n']*\ lan\ ([^,]*), ]] || named=${BASH_REMATCH[1]}
    for interface in "${lan_interfaces[@]}"; do
        [[ " $named " == *" $interface "* ]] ||
            fail "$configuration is there, isn't written over, and $interface is not a LAN in it" \
                "say there:  network: { setup: \"gateway\", lan: [${named:+…, }\"$interface\"] },  leases: \"$lan_leases\"," \
                "then once more; no network was set up"
    done
}

lan_is_up() { (($(<"$lan_sys/$1/flags") & 1)); }
lan_has_link() { [[ $(cat "$lan_sys/$1/carrier" 2>/dev/null) == 1 ]]; }

# Asks a link whether somebody gives addresses there already, two servers would do it by chance; ends, naming it, where
# one answers: lan_probe STARSHIPD IFACE. An interface that is down is down again behind it.
lan_probe() {
    local answer='' code=0 raised='' try
    if ! lan_is_up "$2"; then
        # A radio that nobody uses has nobody on it.
        [[ ! -v lan_ssids[$2] ]] || return 0
        ip link set dev "$2" up || fail "$2 can't be set up, so it could not be asked for DHCP servers"
        raised=1
    fi
    for ((try = 0; try < 20; try++)); do
        if lan_has_link "$2" || [[ -v lan_ssids[$2] ]]; then break; fi
        sleep 0.5
    done
    if lan_has_link "$2"; then
        answer=$("$1" dhcp-probe "$2" 2>&1) || code=$?
    elif [[ ! -v lan_ssids[$2] ]]; then
        code=none
    fi
    [[ ! $raised ]] || ip link set dev "$2" down
    case $code in
        0) ;;
        none) fail "$2 has no link (no cable, or nothing at its other end), so nobody could be asked for DHCP servers there" \
            "plug it in, then once more" ;;
        3) fail "a DHCP server is on $2 already, so none is set up there" "$answer" \
            "Turn it off (an access point: use its bridge mode), or have it name this gateway as router and DNS," \
            "or do without --dhcp and --ap." ;;
        *) fail "$2 could not be asked for DHCP servers" "$answer" ;;
    esac
}

lan_probe_all() {
    local interface
    for interface in "${lan_interfaces[@]}"; do lan_probe "$1" "$interface"; done
}
