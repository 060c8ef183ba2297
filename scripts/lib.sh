# shellcheck shell=bash
# What the scripts share: saying things, Debian packages, root and the user namespace, programs.
#
# Sourced, never run. `root` is the top of the source tree.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export root

# What it takes to build, to run, and what the tests run beside it.
# shellcheck disable=SC2034
build_packages=(libpcap-dev pkg-config)
# shellcheck disable=SC2034
run_packages=(iproute2 nftables conntrack curl)
# What an installed gateway needs, with what its pages are made with; and what makes a .deb.
# shellcheck disable=SC2034
install_packages=(conntrack iproute2 libpcap0.8 nftables python3)
# shellcheck disable=SC2034
package_packages=(binutils dpkg-dev python3)
# shellcheck disable=SC2034
test_packages=(
    util-linux ethtool iputils-ping tcpdump openssl git openssh-client openssh-server squid tinyproxy mitmproxy
    fish zsh nodejs
    busybox dnsmasq-base keepalived hostapd bind9-dnsutils faketime chromium-headless-shell iptables zbar-tools qrencode
    librsvg2-bin binutils debootstrap dpkg-dev groff-base lintian man-db prometheus systemd udev
    python3 python3-h2 python3-hypercorn python3-jsonschema python3-venv python3-websockets shellcheck tmux
)
# What they run that Debian doesn't have, from PyPI.
python_packages=(schemathesis==4.32.5 axe-core-python==0.1.0)

# Says something, one line an argument.
say() { printf '%s\n' "$@"; }

# Says on standard error what is wrong, then what to do about it (one line an argument), and ends.
fail() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    shift
    (($# == 0)) || printf '    %s\n' "$@" >&2
    exit 1
}

# Prints those of the given Debian packages that are not installed.
missing_packages() {
    local package
    for package; do
        [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || printf '%s\n' "$package"
    done
}

# Keeps a package's own service from starting: what the lab needs of it is started in the lab alone.
hold_services() {
    [[ -e /usr/sbin/policy-rc.d ]] && return
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    held_services=1
}

release_services() {
    [[ ${held_services:-} ]] || return 0
    rm -f /usr/sbin/policy-rc.d
    held_services=
}

# Installs the given packages where they are missing; needs root for that.
need_packages() {
    local -a missing
    local log
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    command -v apt-get >/dev/null ||
        fail "these programs are missing: ${missing[*]}" "install them; the names are those of Debian's packages"
    ((EUID == 0)) || fail "these Debian packages are missing: ${missing[*]}" "sudo apt-get install ${missing[*]}"
    say "Installing ${missing[*]}"
    log=$(mktemp)
    hold_services
    if ! { apt-get install -y --no-install-recommends "${missing[@]}" ||
        { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; }; } >"$log" 2>&1; then
        release_services
        tail -n 15 "$log" >&2
        fail "apt-get could not install ${missing[*]}" "the whole of its words: $log"
    fi
    release_services
    rm -f "$log"
}

# Makes .build/venv with the packages from PyPI, once. Where they can't be had that is said, and no reason to stop: the
# tests that need them are left out by name.
want_python_packages() {
    local venv=$root/.build/venv log
    [[ $(cat "$venv/packages" 2>/dev/null) == "${python_packages[*]}" ]] && return
    say "Installing ${python_packages[*]} from PyPI into .build/venv"
    log=$(mktemp)
    if { python3 -m venv --clear "$venv" &&
        "$venv/bin/python" -m pip --no-input --timeout 15 --retries 1 install --quiet "${python_packages[@]}"; } \
        >"$log" 2>&1; then
        printf '%s\n' "${python_packages[*]}" >"$venv/packages"
    else
        rm -rf "$venv"
        say "PyPI gave no ${python_packages[*]}, so the tests with it are left out:"
        tail -n 3 "$log" | sed 's/^/    /'
    fi
    rm -f "$log"
}

# Prints what the tests in a file of their words have left out, each once.
left_out() {
    LC_ALL=C.UTF-8 grep -aoE '(Test|Suite) .* skipped(\.$|: .*)' "$1" | sort -u
}

# Of that on standard input, what ought to have run: all but what `--long` alone runs, and what takes a kernel that has
# been built otherwise. The tests say so in words of their own (LongRun.comment, Lab.kernelLacks).
left_out_by_mistake() {
    grep -vE ' skipped: "(only --long runs it|this kernel lacks .*)"$'
}

# Finds the Swift toolchain, also where sudo has dropped it from PATH.
need_swift() {
    local place
    command -v swift >/dev/null && return
    for place in /opt/swift/usr/bin /usr/local/swift/usr/bin /usr/libexec/swift/bin \
        "/home/${SUDO_USER:-nobody}/.local/share/swiftly/bin" "$HOME/.local/share/swiftly/bin"; do
        if [[ -x $place/swift ]]; then
            PATH=$place:$PATH
            return
        fi
    done
    fail "the Swift toolchain is missing (swift 6.3 or later is not in PATH)" \
        "get it from https://www.swift.org/install/linux/, or name its place: sudo env PATH=\"\$PATH\" $0"
}

# Says whether this process may make network namespaces and TUN devices.
lab_is_possible() {
    ((EUID == 0)) && [[ -r /dev/net/tun && -w /dev/net/tun ]] && command -v ip >/dev/null &&
        unshare --net true 2>/dev/null
}

# Runs a command as root of a user namespace of its own, with the mounts that `ip netns` writes to.
#
# Where the system has subordinate ids (newuidmap), programs in it may change to other users;
# without them the proxies that insist on that are left out.
in_user_namespace() {
    local -a ids=(--map-root-user)
    unshare --user --map-root-user --map-auto true 2>/dev/null && ids+=(--map-auto)
    # shellcheck disable=SC2016
    unshare --user "${ids[@]}" --net --mount --propagation private bash -c '
        mount -t tmpfs tmpfs /run && mkdir -p /run/netns /run/sshd && "$0" names >/run/hosts &&
            mount --bind /run/hosts /etc/hosts && exec "$@"' "$root/scripts/lab" "$@"
}

can_enter_user_namespace() {
    in_user_namespace true 2>/dev/null
}
