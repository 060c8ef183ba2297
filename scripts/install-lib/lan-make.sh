# shellcheck shell=bash
# Networks of the gateway's own, part 2 of 3: files, services, and how both go again. lan.sh says what they are.
# shellcheck disable=SC2154

# What is in the files

# DHCP alone, after Configs/ways/dnsmasq-lan.conf: lan_text_dhcp IFACE ADDRESS/24.
lan_text_dhcp() {
    local prefix address=${2%/*}
    prefix=$(lan_prefix "$2") || exit 1
    cat <<-DNSMASQ
		$lan_mark
		interface=$1
		bind-dynamic
		port=0
		dhcp-authoritative
		dhcp-range=set:$1,$prefix.50,$prefix.250,255.255.255.0,12h
		dhcp-option=tag:$1,option:router,$address
		dhcp-option=tag:$1,option:dns-server,$address
	DNSMASQ
}

# The interface's address, after Configs/ways/wlan0.network.
lan_text_network() {
    cat <<-NETWORK
		$lan_mark
		${3:-# The address of the gateway on a network of its own.}
		[Match]
		Name=$1

		[Link]
		RequiredForOnline=no

		[Network]
		Address=$2
		ConfigureWithoutCarrier=yes
		LinkLocalAddressing=ipv6
		IPv6AcceptRA=no
	NETWORK
}

lan_text_manager() {
    cat <<-MANAGER
		$lan_mark
		[device-starship-$1]
		match-device=interface-name:$1
		managed=0
	MANAGER
}

# The access point, after Configs/ways/hostapd.conf: lan_text_ap IFACE SSID PASSPHRASE.
lan_text_ap() {
    cat <<-HOSTAPD
		$lan_mark
		interface=$1
		driver=nl80211
		ssid=$2
		hw_mode=g
		channel=6
		ieee80211n=1
		wmm_enabled=1
		auth_algs=1
		wpa=2
		wpa_key_mgmt=WPA-PSK WPA-PSK-SHA256
		rsn_pairwise=CCMP
		ieee80211w=1
		wpa_passphrase=$3
		ap_isolate=1
	HOSTAPD
}

# 16 characters of 32, so 80 bits; none that is taken for another on a sticker.
lan_passphrase() {
    local letters=abcdefghijkmnopqrstuvwxyz2345679 text='' octet
    while read -r octet; do text+=${letters:octet % 32:1}; done < <(od -An -v -tu1 -w1 -N16 /dev/urandom)
    say "$text"
}

# Writing

# Puts standard input where it belongs, whole or not at all: path, mode. Directories that it makes are remembered.
lan_put() {
    local path=$lan_root$1
    lan_make_directory "${path%/*}"
    (
        umask 077
        cat >"$path.starship-new"
    )
    chmod "$2" "$path.starship-new"
    mv -f "$path.starship-new" "$path"
}

lan_make_directory() {
    [[ ! -d $1 ]] || return 0
    lan_make_directory "${1%/*}"
    mkdir -m 0755 "$1"
    make_kept
    say "$1" >>"$kept/lan-directories"
}

lan_write_dhcp() {
    local text note='' former
    text=$(lan_text_dhcp "$1" "$2") || exit 1
    former=$(lan_address "$1")
    if [[ $former == "$2" ]]; then
        ! lan_had_address "$1" || note=$lan_mark_address
    elif ip -4 -o address show dev "$1" 2>/dev/null | grep -qF " $2 "; then
        note=$lan_mark_address
    fi
    [[ $former == "$2" ]] || lan_drop_address "$1"
    lan_put "/etc/starship/dhcp/$1.conf" 644 <<<"$text"
    lan_text_network "$1" "$2" "$note" | lan_put "$(lan_network_file "$1")" 644
    [[ ! -d $lan_root/etc/NetworkManager/conf.d ]] ||
        lan_text_manager "$1" | lan_put "/etc/NetworkManager/conf.d/starship-$1.conf" 644
}

# Prints nothing: the passphrase stands in the file, which is root's. One that is there stays.
lan_write_ap() {
    local file=/etc/hostapd/$1.conf passphrase
    lan_check_ssid "$2"
    passphrase=$(sed -n 's/^wpa_passphrase=//p' "$lan_root$file" 2>/dev/null || true)
    [[ $passphrase ]] || passphrase=$(lan_passphrase)
    lan_text_ap "$1" "$2" "$passphrase" | lan_put "$file" 600
}

# Whether the interface had its address before it had a network of ours.
lan_had_address() { grep -qxF "$lan_mark_address" "$lan_root$(lan_network_file "$1")" 2>/dev/null; }

# Takes off the address that our file gives an interface, unless it was there before.
lan_drop_address() {
    local address
    address=$(lan_address "$1")
    [[ $lan_root || ! $address ]] || lan_had_address "$1" || ip address del "$address" dev "$1" 2>/dev/null || true
}

# The packages of what was asked for.
lan_packages() {
    ((!${#lan_interfaces[@]})) || say dnsmasq-base
    ((!${#lan_ssids[@]})) || say hostapd
}

lan_need_packages() {
    local -a packages
    mapfile -t packages < <(lan_packages)
    need_packages "${packages[@]}"
}

# The files of all networks that were asked for; whose passphrase is new is kept for lan_say.
lan_install() {
    local interface
    for interface in "${lan_interfaces[@]}"; do
        lan_write_dhcp "$interface" "${lan_addresses[$interface]}"
        if [[ -v lan_ssids[$interface] ]]; then
            [[ -e $lan_root/etc/hostapd/$interface.conf ]] || lan_new_ap+=("$interface")
            lan_write_ap "$interface" "${lan_ssids[$interface]}"
        else
            lan_drop_ap "$interface"
        fi
    done
}

# Starting and stopping

# What manages the network reads its files again.
lan_reload_managers() {
    systemd_runs || return 0
    ! systemctl is-active --quiet systemd-networkd.service 2>/dev/null || networkctl reload || true
    ! systemctl is-active --quiet NetworkManager.service 2>/dev/null || systemctl reload NetworkManager.service || true
}

# Gives each of our interfaces its address; one that is not there now gets it when it comes (udev).
lan_set_addresses() {
    local interface address
    while read -r interface; do
        address=$(lan_address "$interface")
        if [[ ! $address || ! -e $lan_sys/$interface ]]; then
            say "$interface: ${address:+not there yet}${address:-no address in $(lan_network_file "$interface")}" >&2
            continue
        fi
        ip link set dev "$interface" up || true
        ip address replace "$address" dev "$interface" || true
    done < <(lan_networks)
}

# The interfaces among our networks that are access points.
lan_access_points() {
    local interface
    while read -r interface; do
        ! lan_is_ours "$lan_root/etc/hostapd/$interface.conf" || say "$interface"
    done < <(lan_networks)
}

# Gives addresses out, on all networks of ours. Nothing is done where there is none.
lan_start() {
    local interface
    [[ $(lan_networks) ]] || return 0
    if ! may_start; then
        say "The networks (/etc/starship/dhcp) are not started here."
        return 0
    fi
    lan_reload_managers
    systemctl daemon-reload
    while read -r interface; do
        systemctl reset-failed "hostapd@$interface.service" 2>/dev/null || true
        beside_turn systemctl restart "hostapd@$interface.service" ||
            fail "the access point on $interface did not start; everything else is in place" \
                "$(journalctl -u "hostapd@$interface.service" -n 5 -o cat --no-pager 2>/dev/null || true)"
    done < <(lan_access_points)
    systemctl reset-failed "$lan_unit" 2>/dev/null || true
    beside_turn systemctl restart "$lan_unit" || fail "DHCP did not start; everything else is in place" \
        "$(journalctl -u "$lan_unit" -n 5 -o cat --no-pager 2>/dev/null || true)"
}

# For the next boot. starship-dhcp.service is enabled with the gateway already, unless somebody has disabled it.
lan_enable() {
    local interface
    command -v systemctl >/dev/null || return 0
    [[ ! $(lan_networks) ]] || systemctl enable --quiet "$lan_unit"
    while read -r interface; do systemctl enable --quiet "hostapd@$interface.service"; done < <(lan_access_points)
}

lan_stop() {
    local interface
    systemd_runs || return 0
    while read -r interface; do systemctl stop "hostapd@$interface.service" 2>/dev/null || true; done < <(lan_access_points)
    systemctl stop "$lan_unit" 2>/dev/null || true
}

# Removing

# Ends an access point and removes its file, if it is ours.
lan_drop_ap() {
    local file=$lan_root/etc/hostapd/$1.conf
    lan_is_ours "$file" || return 0
    if [[ ! $lan_root ]] && command -v systemctl >/dev/null; then
        ! systemd_runs || systemctl stop "hostapd@$1.service" 2>/dev/null || true
        systemctl disable --quiet "hostapd@$1.service" 2>/dev/null || true
    fi
    rm -f "$file"
}

# Removes what was written for an interface, if it is ours; what isn't is named and stays.
lan_remove() {
    local file
    lan_drop_ap "$1"
    lan_drop_address "$1"
    while read -r file; do
        [[ -e $lan_root$file ]] || continue
        if lan_is_ours "$lan_root$file"; then
            rm -f "$lan_root$file"
        else
            say "$file is not from the installation, and stays."
        fi
    done < <(lan_files "$1")
    [[ $lan_root ]] || lan_reload_managers
    [[ $(lan_networks) ]] || lan_forget
}

lan_remove_all() {
    local interface
    while read -r interface; do lan_remove "$interface"; done < <(lan_networks)
}

# Behind the last network: leases, and directories that were made for them.
lan_forget() {
    local directory
    if [[ ! $lan_root ]]; then
        ! systemd_runs || systemctl stop "$lan_unit" 2>/dev/null || true
        rm -rf "$lan_state"
    fi
    [[ -f $kept/lan-directories ]] || return 0
    while read -r directory; do
        rmdir --ignore-fail-on-non-empty "$directory" 2>/dev/null || true
    done < <(tac "$kept/lan-directories")
    rm -f "$kept/lan-directories"
}

# Taking back

# Copies the files of all networks below a directory.
lan_keep() {
    local interface file
    rm -rf "$1"
    mkdir -m 0700 "$1"
    while read -r interface; do
        while read -r file; do
            [[ ! -e $file ]] || ! lan_is_ours "$file" || cp -a --parents "$file" "$1"
        done < <(lan_files "$interface")
    done < <(lan_networks)
}

# Makes the networks those that lan_keep has found; fails where a service doesn't start again.
lan_put_back() {
    local file now
    [[ -d $1 ]] || return 0
    now=$(mktemp -d)
    lan_keep "$now/lan"
    if diff -r "$1" "$now/lan" >/dev/null; then
        rm -rf "$now"
        return 0
    fi
    rm -rf "$now"
    lan_remove_all
    [[ -d $1/etc ]] || return 0
    while read -r file; do lan_make_directory "${file%/*}"; done < <(cd "$1" && find . -type f -printf '/%P\n')
    cp -a "$1/etc/." /etc/
    lan_start
    lan_enable
}
