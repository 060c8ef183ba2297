# shellcheck shell=bash
# /usr/lib/starship/setup: what may be wanted of an installed gateway without its source tree.

case ${1:-} in
    back) back ;;
    confirmed) confirm_change ;;
    undo) undo_change "${@:2}" ;;
    *)
        fail "unknown or missing argument" \
            "setup back         go back to the version, and the lab's state, before the last one" \
            "setup confirmed    keep an installation that undoes itself (scripts/install --confirm)"
        ;;
esac
