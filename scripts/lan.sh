# shellcheck shell=bash
# A network of the gateway's own: an access point (`--ap IFACE --ssid NAME`) and DHCP (`--dhcp IFACE`).
#
# Sourced by scripts/install, never run. Needs `say` and `fail` of lib.sh, and `starshipd` (the new binary) in $1 where it
# says so. Everything that is written is under $lan_root (empty: this machine), so that it can be planned and tested.
#
#   lan_check_ap IFACE SSID              refuses what can't be an access point, before anything is done
#   lan_probe STARSHIPD IFACE            asks for a DHCP server on the link; ends, naming it, where one answers
#   lan_files_dhcp IFACE, lan_files_ap IFACE    the files that would be written, a line each, for --plan
#   lan_write_dhcp IFACE ADDRESS/24, lan_write_ap IFACE SSID    write them; a passphrase that is there stays

lan_root=${lan_root:-}
lan_mark='# Written by scripts/install of Starship Gateway; scripts/uninstall removes it.'

# Ends unless the interface has a name that files and programs can bear, and is there.
lan_check_interface() {
    [[ $1 =~ ^[A-Za-z0-9._][A-Za-z0-9._-]{0,14}$ && $1 != . && $1 != .. ]] ||
        fail "found $1; expected the name of an interface" "ip -brief link shows them"
    [[ -e /sys/class/net/$1 ]] || fail "there is no interface $1" "ip -brief link shows those that are there"
}

# The name of a Wi-Fi has 1 to 32 octets (IEEE 802.11, 9.4.2.2); no line feed, or it would be a setting.
lan_check_ap() {
    local LC_ALL=C
    lan_check_interface "$1"
    [[ -e /sys/class/net/$1/phy80211 ]] ||
        fail "$1 has no radio" "an access point needs a Wi-Fi interface; with one that hangs on a cable: --dhcp $1"
    lan_check_ssid "$2"
}

lan_check_ssid() {
    local LC_ALL=C
    ((${#1} >= 1 && ${#1} <= 32)) || fail "--ssid has ${#1} octets; expected 1 to 32"
    [[ $1 != *[[:cntrl:]]* ]] || fail "--ssid has control characters; expected a name on one line"
}

# Asks the link whether somebody gives addresses there already: two servers would do it by chance.
lan_probe() {
    local answer code=0
    answer=$("$1" dhcp-probe "$2" 2>&1) || code=$?
    case $code in
        0) ;;
        3) fail "a DHCP server is on $2 already, so none is set up there" "$answer" \
            "Turn it off (an access point: use its bridge mode), or have it name this gateway as router and DNS," \
            "or do without --dhcp and --ap." ;;
        *) fail "$2 could not be asked for DHCP servers" "$answer" ;;
    esac
}

lan_files_dhcp() {
    say "/etc/dnsmasq.d/starship-$1.conf" "/etc/systemd/network/50-starship-$1.network"
}

lan_files_ap() {
    say "/etc/hostapd/starship-$1.conf"
    lan_files_dhcp "$1"
}

# Puts standard input where it belongs, whole or not at all: path, mode.
lan_put() {
    local path=$lan_root$1
    mkdir -p "${path%/*}"
    (
        umask 077
        cat >"$path.starship-new"
    )
    chmod "$2" "$path.starship-new"
    mv -f "$path.starship-new" "$path"
}

# The first three numbers of an address with a prefix of 24 bits: `192.168.50.1/24`.
lan_prefix() {
    local number='(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
    [[ $1 =~ ^$number\.$number\.$number\.$number/24$ ]] ||
        fail "found $1; expected the gateway's address on that network, such as 192.168.50.1/24"
    say "${1%.*}"
}

# DHCP and the interface's own address, after Configs/ways/dnsmasq-lan.conf and wlan0.network.
lan_write_dhcp() {
    local prefix address=${2%/*}
    prefix=$(lan_prefix "$2") || exit 1
    lan_put "/etc/dnsmasq.d/starship-$1.conf" 644 <<-DNSMASQ
		$lan_mark
		interface=$1
		bind-dynamic
		port=0
		dhcp-authoritative
		dhcp-range=$1,$prefix.50,$prefix.250,255.255.255.0,12h
		dhcp-option=$1,option:router,$address
		dhcp-option=$1,option:dns-server,$address
	DNSMASQ
    lan_put "/etc/systemd/network/50-starship-$1.network" 644 <<-NETWORK
		$lan_mark
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

# 16 characters of 32, so 80 bits; none that is taken for another on a sticker.
lan_passphrase() {
    local letters=abcdefghijkmnopqrstuvwxyz2345679 text='' octet
    while read -r octet; do text+=${letters:octet % 32:1}; done < <(od -An -v -tu1 -w1 -N16 /dev/urandom)
    say "$text"
}

# The access point, after Configs/ways/hostapd.conf. Prints nothing: the passphrase stands in the file, which is root's.
lan_write_ap() {
    local file=/etc/hostapd/starship-$1.conf passphrase
    lan_check_ssid "$2"
    passphrase=$(sed -n 's/^wpa_passphrase=//p' "$lan_root$file" 2>/dev/null || true)
    [[ $passphrase ]] || passphrase=$(lan_passphrase)
    lan_put "$file" 600 <<-HOSTAPD
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
		wpa_passphrase=$passphrase
		ap_isolate=1
	HOSTAPD
}

# Removes what was written for an interface, if it is ours.
lan_remove() {
    local file
    while read -r file; do
        [[ $(head -n 1 "$lan_root$file" 2>/dev/null) != "$lan_mark" ]] || rm -f "$lan_root$file"
    done < <(lan_files_ap "$1")
}
