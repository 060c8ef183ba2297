# shellcheck shell=bash
# Networks of the gateway's own, part 3 of 3: the plan, the last words, and the command of an installed gateway.
# shellcheck disable=SC2154

# The plan of what was asked for: packages, files with what is in them, commands.
lan_plan() {
    local interface address
    local -a packages missing
    ((${#lan_interfaces[@]})) || return 0
    mapfile -t packages < <(lan_packages)
    mapfile -t missing < <(missing_packages "${packages[@]}")
    say "Networks of its own:"
    ((!${#missing[@]})) || say "    apt-get install --no-install-recommends ${missing[*]}"
    for interface in "${lan_interfaces[@]}"; do
        address=${lan_addresses[$interface]}
        if [[ -v lan_ssids[$interface] ]]; then
            lan_plan_file "/etc/hostapd/$interface.conf" "root alone reads it" < <(
                lan_text_ap "$interface" "${lan_ssids[$interface]}" "(the one that is there, or made then and shown once)"
            )
        fi
        lan_plan_file "/etc/starship/dhcp/$interface.conf" < <(lan_text_dhcp "$interface" "$address")
        lan_plan_file "$(lan_network_file "$interface")" < <(lan_text_network "$interface" "$address")
        [[ ! -d /etc/NetworkManager/conf.d ]] ||
            lan_plan_file "/etc/NetworkManager/conf.d/starship-$interface.conf" < <(lan_text_manager "$interface")
        say "    ip link set dev $interface up" "    ip address replace $address dev $interface"
        [[ ! -v lan_ssids[$interface] ]] || say "    systemctl enable hostapd@$interface.service" \
            "    systemctl restart hostapd@$interface.service"
    done
    say "    systemctl enable $lan_unit" "    systemctl restart $lan_unit"
}

lan_plan_file() {
    local word=new
    [[ ! -e $1 ]] || word=changed
    say "    $(printf '%-9s' "$word") $1${2:+ ($2)}:"
    sed 's/^/        /'
}

# Asks the links for the plan, which changes nothing: a link that is down, or that only root can ask, is named.
lan_plan_probe() {
    local interface
    for interface in "${lan_interfaces[@]}"; do
        if ((EUID != 0)); then
            say "Not asked for DHCP servers, which takes root: $interface"
        elif lan_is_up "$interface" && lan_has_link "$interface"; then
            lan_probe "$1" "$interface"
        elif [[ ! -v lan_ssids[$interface] ]]; then
            say "Not asked for DHCP servers, because it has no link: $interface. Without one it will be refused."
        fi
    done
    lan_say_firewall
}

# Names a firewall of this machine that doesn't let devices ask for an address; it is left as it is. (Those that drop
# other things of devices are named by the gateway, with `starshipctl doctor`.)
lan_say_firewall() {
    local interface rules
    rules=$(nft list ruleset 2>/dev/null) || return 0
    # firewalld accepts by policy, and refuses in its last rule.
    [[ $rules =~ hook\ input\ [^$'\n']*policy\ drop || $rules == *'table inet firewalld {'* ]] || return 0
    for interface in "${lan_interfaces[@]}"; do
        ! grep -qE "dport ([{] |.*[ ,])?67([ ,]|$)|iif(name)? \"?$interface\"?( counter.*)? (accept|goto .*trusted)" \
            <<<"$rules" || continue
        say "" "A firewall of this machine seems to drop what devices on $interface ask the DHCP server. To let it in:" \
            "    ufw:        ufw allow in on $interface to any port 67 proto udp" \
            "    firewalld:  firewall-cmd --permanent --zone=trusted --change-interface=$interface; firewall-cmd --reload" \
            "    nftables:   nft insert rule TABLE CHAIN iifname $interface udp dport 67 accept"
    done
}

# What the networks are, and each new passphrase, this once.
lan_say() {
    local interface
    ((!${#lan_interfaces[@]})) || lan_say_firewall
    for interface in "${lan_interfaces[@]}"; do
        say "" "Devices on $interface get an address from ${lan_addresses[$interface]}, with this machine as router and DNS."
        [[ ! -v lan_ssids[$interface] ]] || say "The Wi-Fi is called ${lan_ssids[$interface]}."
        [[ " ${lan_new_ap[*]} " != *" $interface "* ]] ||
            say "Its passphrase, which is shown this once and stands in /etc/hostapd/$interface.conf, for root alone:" \
                "" "    $(sed -n 's/^wpa_passphrase=//p' "$lan_root/etc/hostapd/$interface.conf")"
    done
}

# The running gateway has read its interfaces when it started, which may be before they were written down.
lan_check_running() {
    local interface table
    is_running || return 0
    # One LAN is named, several are a set; where no rule is needed, ip(8) shows none of them.
    table=$(nft list table inet starship 2>/dev/null || true)
    for interface in "${lan_interfaces[@]}"; do
        [[ $table =~ iifname\ (\{[^\}]*)?\""$interface"\" ]] ||
            fail "$unit was started before $interface was a LAN in $configuration, and doesn't carry it yet" \
                "sudo systemctl restart $unit, then once more"
    done
}

# /usr/lib/starship/setup network …: on an installed gateway, without the source tree.
lan_command() {
    local plan='' remove=''
    while (($#)); do
        case $1 in
            --plan) plan=1 ;;
            --ap | --dhcp | --ssid | --lan-address | --remove)
                [[ ${2:-} && ${2:-} != --* ]] || fail "$1 needs a value"
                if [[ $1 == --remove ]]; then remove=$2; else lan_option "$1" "$2"; fi
                shift
                ;;
            *) fail "unknown argument $1" "--ap IFACE --ssid NAME, --dhcp IFACE, --lan-address ADDRESS/24, --plan, --remove IFACE" ;;
        esac
        shift
    done
    if [[ $remove ]]; then
        ((EUID == 0)) || fail "this needs root"
        [[ $'\n'$(lan_networks)$'\n' == *$'\n'$remove$'\n'* ]] || fail "there is no network of ours on $remove"
        take_turn
        lan_remove "$remove"
        lan_start
        say "Removed: nobody gives addresses out on $remove any more. In $configuration it may still be a LAN."
        return
    fi
    ((${#lan_interfaces[@]})) || fail "nothing to do" "--ap IFACE --ssid NAME, or --dhcp IFACE"
    ((EUID == 0)) || [[ $plan ]] || fail "this needs root"
    lan_check
    lan_check_configuration "$program"
    [[ $plan ]] || lan_check_running
    if [[ $plan ]]; then
        lan_plan_probe "$program"
        lan_plan
        say "Nothing of this was done."
        return
    fi
    take_turn
    lan_probe_all "$program"
    lan_need_packages
    lan_install
    lan_start
    lan_enable
    lan_say
}
