# shellcheck shell=bash
# What is done to a machine when the gateway is installed, exchanged for another version, put back and removed.
#
# One text for every way: scripts/install and scripts/uninstall source it, scripts/package makes it a part of the .deb's
# maintainer scripts, and as /usr/lib/starship/setup it stays on the machine for what comes later. Of the source tree it
# needs `say` and `fail` alone, and lan.sh with its parts behind it.
#
#     install     place, prepare, enable_service, start_service
#     exchange    refusal, begin_exchange, place, go_over      the former version is back by itself where this one is worse
#     later       back, confirm_change, undo_change
#     remove      take_down, remove_files, forget_setup; purge

unit=starshipd.service
program=/usr/bin/starshipd
configuration=/etc/starship/starship.json5
state=/var/lib/starship
group=starship
# The files of the installed version, one a line.
manifest=/usr/lib/starship/files
# What setup remembers between its calls: the former version, who has to be asked, what was made. Root's alone.
kept=/var/lib/starship-setup
# Seconds that a new version is watched before it counts as no worse, and at most. Two misses of an upstream take a few.
watched=8
patience=30

# The service

systemd_runs() { [[ -d /run/systemd/system ]] && command -v systemctl >/dev/null; }

# Whether services may be started here: not while an image is built (policy-rc.d(8)).
may_start() {
    systemd_runs || return 1
    [[ ! -x /usr/sbin/policy-rc.d ]] || /usr/sbin/policy-rc.d starshipd start >/dev/null 2>&1
}

is_running() { systemd_runs && systemctl is-active --quiet "$unit"; }

# Has systemd and udev read what was placed or removed.
reload_managers() {
    ! systemd_runs || systemctl daemon-reload
    [[ ! -d /run/udev ]] || udevadm control --reload 2>/dev/null || true
}

# Those of our units that a machine starts by itself.
enabled_units() {
    local file
    while IFS= read -r file; do
        [[ $file == /usr/lib/systemd/system/* && $file != *@.* ]] || continue
        ! grep -q '^\[Install\]' "$file" || basename "$file"
    done <"$manifest"
}

# Debian's way to enable a unit, with or without systemd; it wants to know for which package.
helper() { DPKG_MAINTSCRIPT_PACKAGE=starship-gateway deb-systemd-helper "$@"; }

# Enables the service, unless somebody has disabled it.
enable_service() {
    local one
    while read -r one; do
        if command -v deb-systemd-helper >/dev/null; then
            helper unmask "$one" >/dev/null || true
            if helper --quiet was-enabled "$one"; then
                helper enable "$one" >/dev/null
            else
                helper update-state "$one" >/dev/null
            fi
        elif command -v systemctl >/dev/null; then
            systemctl enable --quiet "$one"
        fi
    done < <(enabled_units)
    reload_managers
}

disable_service() {
    local one
    while read -r one; do
        if command -v deb-systemd-helper >/dev/null; then
            helper purge "$one" >/dev/null || true
            helper unmask "$one" >/dev/null || true
        elif command -v systemctl >/dev/null; then
            systemctl disable --quiet "$one" || true
        fi
    done < <(enabled_units)
}

# Starts the service and waits until it is ready; fails where it isn't.
start_service() {
    systemctl daemon-reload
    systemctl reset-failed "$unit" 2>/dev/null || true
    beside_turn systemctl start "$unit" >/dev/null 2>&1
}

stop_service() { ! systemd_runs || systemctl stop "$unit" 2>/dev/null || true; }

# What the service said last.
last_words() {
    local words
    words=$(journalctl -u "$unit" -n 5 -o cat --no-pager 2>/dev/null | tail -n 5) || true
    say "${words:-nothing; see systemctl status $unit}"
}

# 0 green, 1 yellow or grey, 2 red, 3 no answer: what `starshipctl status` ends with.
colour() {
    local code=0
    timeout 10 starshipctl status >/dev/null 2>&1 || code=$?
    ((code <= 3)) || code=3
    say "$code"
}

colour_words() {
    case $1 in
        0) say green ;;
        1) say "yellow or grey" ;;
        2) say red ;;
        *) say "without an answer" ;;
    esac
}

# Waits until the service looks no worse than that, for a while at least; where it doesn't, `why` says what it does.
settles() {
    local before=$1 since=$SECONDS now
    while ((SECONDS - since < patience)); do
        sleep 1
        if ! is_running; then
            why=$(say "it ended; its last words:" && last_words)
            return 1
        fi
        now=$(colour)
        ((SECONDS - since < watched || now > before)) || return 0
    done
    why="it is $(colour_words "$now") after $patience s, the former version was $(colour_words "$before")"
    return 1
}

# Files

installed_version() { "$program" --version 2>/dev/null | awk '{ print $2 }'; }

# Whether dpkg put the programs here.
is_package() { dpkg-query -S "$program" >/dev/null 2>&1; }

# Makes a directory, and remembers each that was not there.
make_directory() {
    [[ -d $1 ]] && return
    make_directory "${1%/*}"
    mkdir -m 0755 "$1"
    say "$1" >>"$kept/directories"
}

make_kept() { install -d -m 0700 "$kept"; }

# Waits until nobody else installs or undoes here; from then on it is ours until this process ends.
take_turn() {
    make_kept
    exec 9>"$kept/turn"
    flock 9
}

# Runs what may live longer than we do, and must not keep others waiting.
beside_turn() { "$@" 9>&-; }

# Makes the files of a tree the installed ones, each at once; what the version in place has besides goes.
place() {
    local from=$1 file
    local -a former=()
    make_kept
    [[ ! -f $manifest ]] || mapfile -t former <"$manifest"
    while IFS= read -r file; do
        make_directory "${file%/*}"
        cp -a "$from$file" "$file.starship-new"
        mv -f "$file.starship-new" "$file"
    done <"$from$manifest"
    for file in "${former[@]}"; do
        grep -qxF -- "$file" "$manifest" || rm -f "$file"
    done
    reload_managers
}

# Copies the installed files below a directory.
copy_files() {
    local file
    rm -rf "$1"
    install -d -m 0700 "$1"
    while IFS= read -r file; do
        [[ ! -e $file ]] || cp -a --parents "$file" "$1"
    done <"$manifest"
}

# The group, the directories and, where there is none, a configuration; the arguments are those of write_configuration.
prepare() {
    make_kept
    getent group "$group" >/dev/null || {
        groupadd --system "$group"
        say group >>"$kept/made"
    }
    [[ -e $state ]] || {
        install -d -m 0750 -o root -g "$group" "$state"
        say state >>"$kept/made"
    }
    [[ -d /etc/starship ]] || {
        install -d -m 0755 /etc/starship
        # Passwords, which systemd hands over to the service (LoadCredential=).
        install -d -m 0700 /etc/starship/secrets
        say directory >>"$kept/made"
    }
    [[ -e $configuration ]] || {
        write_configuration "$@" >"$configuration.new"
        chgrp "$group" "$configuration.new"
        chmod 0640 "$configuration.new"
        mv "$configuration.new" "$configuration"
        say configuration >>"$kept/made"
    }
}

# A configuration to begin with: write_configuration [http://HOST:PORT [IFACE …]].
write_configuration() {
    local upstream=${1:-} server interfaces=''
    shift $(($# > 0))
    ((!$#)) || interfaces=$(printf ', "%s"' "$@")
    say "// What starshipd does on this machine. Every setting, with its default: man starship.json5, and" \
        "// /usr/share/doc/starship-gateway/examples/starship.json5." \
        "//" \
        "//     starshipd check $configuration      what it means, or what is wrong with it" \
        "//     starshipctl reload                                the daemon reads it again" "{"
    if [[ $interfaces ]]; then
        say "  // Devices on these interfaces use this machine as their router; it makes the routes itself." \
            "  network: { setup: \"gateway\", lan: [${interfaces#, }] },"
    else
        say "  // Nothing of the machine's network is touched yet. With devices on wlan0:" \
            "  // network: { setup: \"gateway\", lan: [\"wlan0\"] },"
    fi
    # shellcheck disable=SC2154
    ((!${#lan_interfaces[@]})) || say "" "  // The DHCP server of this machine: names to propose for devices." \
        "  leases: \"$lan_leases\","
    say "" "  // Who may use starshipctl: root, and the members of this group." \
        "  control: { group: \"$group\" }," "" "  profiles: [{" "    id: \"lab\","
    if [[ $upstream ]]; then
        server=${upstream#*://}
        server=${server%/}
        local host=${server%:*}
        host=${host#[}
        say "    upstream: { type: \"${upstream%%://*}\", host: \"${host%]}\", port: ${server##*:} },"
    else
        say "    // No proxy yet: everything leaves by itself. With one:" \
            "    // upstream: { type: \"http\", host: \"proxy.example\", port: 8080 }," \
            "    upstream: { type: \"direct\" },"
    fi
    say "  }]," "  active: \"lab\"," "}"
}

# Exchanging

# Says why a program can't use the configuration or the lab's state as they are; nothing where it can.
refusal() {
    local copy words code=0
    [[ -e $configuration ]] || return 0
    copy=$(mktemp -d)
    # The running daemon has the directory for itself, and reading may set damaged files aside.
    [[ ! -d $state ]] || cp -a "$state/." "$copy"
    words=$("$1" check "$configuration" --state "$copy" 2>&1 >/dev/null) || code=$?
    rm -rf "$copy"
    ((code == 0)) || say "${words//"$copy"/"$state"}" "(starshipd check ended with $code)"
}

# Keeps the installed version's files and how it is doing, before others take its place.
begin_exchange() {
    make_kept
    cancel_undo
    rm -rf "$kept/previous" "$kept/refused"
    mkdir -m 0700 "$kept/previous"
    copy_files "$kept/previous/files"
    lan_keep "$kept/previous/lan"
    installed_version >"$kept/previous/version"
    if is_running; then colour >"$kept/exchange"; else say stopped >"$kept/exchange"; fi
}

keep_store() {
    rm -rf "$kept/previous/store"
    mkdir -m 0700 "$kept/previous/store"
    [[ ! -d $state ]] || cp -a "$state/." "$kept/previous/store"
}

put_files_back() {
    cancel_undo
    # dpkg --configure tries these again.
    [[ ! ${DPKG_MAINTSCRIPT_NAME:-} ]] || copy_files "$kept/refused"
    place "$kept/previous/files"
}

put_store_back() {
    [[ -d $kept/previous/store ]] || return 0
    mkdir -p "$state"
    find "$state/" -mindepth 1 -delete
    cp -a "$kept/previous/store/." "$state/"
}

# Goes over to the version whose files are in place; where it is worse than the former one, that is put back and this fails.
go_over() {
    local before version former why
    before=$(<"$kept/exchange")
    version=$(installed_version)
    former=$(<"$kept/previous/version")
    why=$(refusal "$program")
    if [[ $why ]]; then
        put_files_back
        rm -f "$kept/exchange"
        fail "version ${version:-?} can't use what is here, so $former is in place again and was not disturbed" "$why"
    fi
    stop_service
    keep_store
    if [[ $before == stopped ]]; then
        rm -f "$kept/exchange"
        return 0
    fi
    if ! start_service; then
        why=$(say "it did not become ready; its last words:" && last_words)
    elif settles "$before"; then
        rm -f "$kept/exchange"
        return 0
    fi
    stop_service
    put_files_back
    put_store_back
    rm -f "$kept/exchange"
    start_service || fail "version $version failed, and the former one ($former) did not start again either" \
        "its files and its state are in place: systemctl status $unit" "$why"
    fail "version ${version:-?} is worse than $former, which is back with its state" "$why"
}

# Goes back to the former version, its state and the networks of its time by hand.
back() {
    local running='' now
    [[ -f $kept/previous/version ]] || fail "no former version is kept here" \
        "one is from the next installation over this one on"
    now=$(installed_version)
    ! is_running || running=1
    stop_service
    rm -rf "$kept/newer-state"
    mkdir -m 0700 "$kept/newer-state"
    [[ ! -d $state ]] || cp -a "$state/." "$kept/newer-state"
    put_files_back
    put_store_back
    lan_put_back "$kept/previous/lan"
    say "Version $(<"$kept/previous/version") is back with the lab's state of its time; what ${now:-the other one} had" \
        "made of it since is in $kept/newer-state."
    ! is_package || say "dpkg doesn't know of this: install the older .deb to make its records right."
    rm -rf "$kept/previous"
    [[ ! $running ]] || start_service || fail "it did not start" "$(last_words)"
}

# A change that undoes itself

# Has this change undone after so many seconds unless confirm_change comes before; it survives the end of our shell.
# The kind is install or exchange.
schedule_undo() {
    local seconds=$1 kind=$2 token
    make_kept
    token=$kind-$$-$(date +%s)
    say "$token" >"$kept/unconfirmed"
    # What is installed may be gone by then.
    cp /usr/lib/starship/setup "$kept/setup"
    if systemd_runs && command -v systemd-run >/dev/null; then
        systemd-run --quiet --collect --unit=starship-undo --on-active="$seconds" --timer-property=AccuracySec=1s \
            "$kept/setup" undo "$token"
    else
        beside_turn setsid --fork "$kept/setup" undo "$token" "$seconds" </dev/null >/dev/null 2>&1
    fi
}

# Whoever comes to undo it finds no token any more.
cancel_undo() {
    [[ -f $kept/unconfirmed ]] || return 0
    rm -f "$kept/unconfirmed" "$kept/setup"
    ! systemd_runs || systemctl stop starship-undo.timer 2>/dev/null || true
}

confirm_change() {
    [[ -f $kept/unconfirmed ]] || fail "nothing waits for it" "only an installation with --confirm does, and in time"
    cancel_undo
    enable_service
    lan_enable
    say "Kept: nothing will be undone."
}

# Undoes the change of that token, after some seconds where they are given, if nobody has confirmed it.
undo_change() {
    [[ ! ${2:-} ]] || sleep "$2"
    [[ -d $kept ]] || return 0
    # The installation may still be going on; if its shell has died, it isn't.
    take_turn
    [[ -f $kept/unconfirmed && $(<"$kept/unconfirmed") == "$1" ]] || return 0
    cancel_undo
    if [[ $1 == exchange-* ]]; then
        back
        return
    fi
    take_down
    lan_remove_all
    remove_files
    remove_made
    forget_setup
}

# Removing

# What has to be done while the programs are there: who has to undo what, the end of the service, the network.
take_down() {
    if is_running; then
        say "What devices have to undo (those of the last 7 days):" ""
        starshipctl devices --leaving 2>&1 || true
    else
        say "The service doesn't run, so it can't name the devices that use this machine as their router, DNS or proxy:" \
            "each needs its former settings again, and loses the certificates that it was told to trust."
    fi
    # Before the gateway: nobody is to be told of a router that carries nothing.
    lan_stop
    stop_service
    disable_service
    "$program" cleanup || say "The network could not be put back as it was; see above."
    rmdir --ignore-fail-on-non-empty /run/starship 2>/dev/null || true
}

# What dpkg does for a package.
remove_files() {
    local file
    local -a files directories=()
    mapfile -t files <"$manifest"
    for file in "${files[@]}"; do rm -f "$file"; done
    [[ ! -f $kept/directories ]] || mapfile -t directories < <(tac "$kept/directories")
    for file in "${directories[@]}"; do rmdir --ignore-fail-on-non-empty "$file" 2>/dev/null || true; done
    reload_managers
}

# Takes back what `prepare` has made on this machine, and nothing that was there before.
remove_made() {
    local -a made=()
    [[ ! -f $kept/made ]] || mapfile -t made <"$kept/made"
    local one
    for one in "${made[@]}"; do
        case $one in
            configuration) rm -f "$configuration" ;;
            state) remove_state ;;
        esac
    done
    [[ " ${made[*]} " != *' directory '* ]] || rmdir --ignore-fail-on-non-empty /etc/starship/secrets /etc/starship
    [[ " ${made[*]} " != *' group '* ]] || remove_group
}

forget_setup() {
    cancel_undo
    rm -rf "$kept"
}

remove_state() {
    # With a dynamic user it is a link.
    rm -rf /var/lib/private/starship "$state"
    rmdir --ignore-fail-on-non-empty /var/lib/private 2>/dev/null || true
}

remove_group() { ! getent group "$group" >/dev/null || groupdel "$group"; }

# Configuration and state, keys and revisions included.
purge() {
    rm -rf /etc/starship /run/starship
    remove_state
    remove_group
}

# What to do next, on a machine where everything is in place.
next_step() {
    ! is_running || starshipctl status || true
    say ""
    if ((${#lan_interfaces[@]})) && grep -q '^    upstream: { type: "direct" }' "$configuration"; then
        say "Next: say your proxy in $configuration, then \`starshipctl reload\`; and have a device join."
    elif grep -q '^    upstream: { type: "direct" }' "$configuration"; then
        say "Next: say your proxy, and the interface that devices are on, in $configuration;" \
            "then \`starshipctl reload\` (\`systemctl restart $unit\` for the interface)." \
            "An access point or DHCP of this machine's own: /usr/lib/starship/setup network."
    elif ((${#lan_interfaces[@]})); then
        say "Next: have a device join, then \`starshipctl devices\` shows it."
    else
        say "Next: have a device use this machine as its router, then \`starshipctl devices\` shows it."
    fi
    say "Members of the group $group need no sudo for starshipctl: usermod -aG $group NAME."
}
