# shellcheck shell=bash
# /usr/lib/starship/setup: what may be wanted of an installed gateway without its source tree.

case ${1:-} in
    back) back ;;
    confirmed) confirm_change ;;
    undo) undo_change "${@:2}" ;;
    network) lan_command "${@:2}" ;;
    # What starship-dhcp.service and udev call.
    addresses) lan_set_addresses ;;
    *)
        fail "unknown or missing argument" \
            "setup back         go back to the version, and the lab's state, before the last one" \
            "setup confirmed    keep an installation that undoes itself (scripts/install --confirm)" \
            "setup network …    a network of its own: --ap IFACE --ssid NAME, or --dhcp IFACE; with each" \
            "                   [--lan-address ADDRESS/24]; [--plan]; or --remove IFACE"
        ;;
esac
