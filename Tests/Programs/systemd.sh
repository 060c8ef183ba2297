#!/bin/bash
# A machine with systemd as its first process, in namespaces: what it changes is in memory and gone with it.
#
#   systemd.sh boot NAME SOURCES BINARIES   become that machine, in the network namespace of the caller
#   systemd.sh run PID COMMAND...           run something in the machine that PID is
#   systemd.sh sweep NAME                   remove the control groups of machines that are gone
#
# The file system is this one's with a layer of memory above it; /dev, /run and /tmp are new, and of units there are
# those of Debian's packages that a machine without devices, users and consoles needs. The unit under test is installed
# as a package would: programs in /usr/bin, units in /usr/lib/systemd/system, the rule in /usr/lib/udev/rules.d, and the
# group. What the configuration says comes from the caller.
set -euo pipefail

# Runs a command with the whole tree of control groups (version 2) mounted at a place of its own.
with_groups() {
    # shellcheck disable=SC2016
    unshare --mount --propagation private bash -c '
        mount -t tmpfs tmpfs /mnt && mkdir /mnt/groups && mount -t cgroup2 cgroup2 /mnt/groups && "$@"' bash "$@"
}

# A control group of its own: the first process of the machine takes the one that it is in for the top.
enter_group() {
    mkdir -p "/mnt/groups/$1"
    echo "$2" >"/mnt/groups/$1/cgroup.procs"
}

sweep() {
    local group try
    for group in /mnt/groups/"$1"*; do
        # The last processes are on their way out.
        for ((try = 0; try < 50; try++)); do
            [[ -d $group ]] || break
            find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
            [[ ! -d $group ]] || sleep 0.1
        done
    done
}

# What is in /dev of a machine without devices.
make_devices() {
    local name number
    mount -t tmpfs -o mode=755 tmpfs dev
    while read -r name number; do
        # shellcheck disable=SC2086
        mknod -m 666 "dev/$name" c $number
    done <<-NODES
		null 1 3
		zero 1 5
		full 1 7
		random 1 8
		urandom 1 9
		tty 5 0
	NODES
    mkdir dev/pts dev/shm dev/net
    mknod -m 666 dev/net/tun c 10 200
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
}

# The units that start by themselves: those that the packages enable stay out.
choose_units() {
    local unit
    rm -rf etc/systemd/system etc/udev/rules.d
    mkdir -p etc/systemd/system etc/systemd/system/sysinit.target.wants
    ln -s /lib/systemd/system/multi-user.target etc/systemd/system/default.target
    for unit in getty.target console-getty.service systemd-logind.service systemd-user-sessions.service \
        systemd-firstboot.service systemd-sysusers.service systemd-tmpfiles-setup-dev.service systemd-hwdb-update.service \
        systemd-update-utmp.service systemd-udev-trigger.service systemd-journal-flush.service systemd-random-seed.service \
        systemd-binfmt.service systemd-modules-load.service systemd-sysctl.service kmod-static-nodes.service \
        dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount \
        sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount e2scrub_reap.service apt-daily.timer; do
        ln -sf /dev/null "etc/systemd/system/$unit"
    done
    # A policy against starting things is the host's.
    rm -f usr/sbin/policy-rc.d
    # This network counts as there from the first moment on: nothing in it is configured by a manager.
    rm -rf etc/systemd/system/network-online.target.wants
}

install_gateway() {
    local sources=$1 binaries=$2
    cp "$binaries/starshipd" "$binaries/starshipctl" usr/bin/
    cp "$sources"/Configs/systemd/*.service "$sources"/Configs/systemd/*.path usr/lib/systemd/system/
    mkdir -p usr/lib/udev/rules.d etc/starship/secrets
    cp "$sources"/Configs/systemd/*.rules usr/lib/udev/rules.d/
    cp -r "$sources/Configs/phones" etc/starship/
    # What is left on a machine for later, as scripts/install writes it.
    mkdir -p usr/lib/starship
    # shellcheck disable=SC2016
    bash -c '. "$0/lib.sh"; . "$0/install-lib/tree.sh"; write_setup' "$sources/scripts" >usr/lib/starship/setup
    chmod 755 usr/lib/starship/setup
    rm -rf etc/starship/dhcp
    chmod 700 etc/starship/secrets
    rm -rf var/lib/starship var/lib/private/starship
    groupadd --prefix "$PWD" --system starship 2>/dev/null || true
}

# In the new namespaces: the root, and then the first process.
become() {
    local name=$1 sources=$2 binaries=$3
    mount --make-rprivate /
    mount -t tmpfs tmpfs /mnt
    mkdir /mnt/upper /mnt/work /mnt/root
    mount -t overlay overlay -o "lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
    cd /mnt/root
    mount -t proc proc proc
    mount -t sysfs sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs -o mode=755 tmpfs run
    mount -t tmpfs -o mode=1777 tmpfs tmp
    make_devices
    choose_units
    install_gateway "$sources" "$binaries"
    "$sources/scripts/lab" names >etc/hosts
    hostname "$name"
    : >etc/machine-id
    rm -rf var/log/journal
    mkdir old
    pivot_root . old

    # In what calls itself a container systemd leaves alone the settings of the kernel that all machines share, and device
    # units. Mounts have to be shared for credentials to arrive, which nspawn would see to.
    exec env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin /bin/sh -c '
        umount -l /old && rmdir /old && mount --make-rshared / && exec /lib/systemd/systemd --log-target=journal --log-level=notice </dev/null'
}

# The first process of the machine that a process of ours is the parent of.
first_of() {
    local children
    read -r children <"/proc/$1/task/$1/children" || true
    [[ $children ]] || {
        echo "machine $1 is gone" >&2
        exit 69
    }
    echo "${children%% *}"
}

command=$1
shift
case $command in
    boot)
        with_groups "$0" enter "$1" $$
        exec unshare --pid --fork --kill-child --mount --uts --ipc --cgroup "$0" become "$@"
        ;;
    enter) enter_group "$@" ;;
    become) become "$@" ;;
    run)
        first=$(first_of "$1")
        shift
        exec nsenter --target "$first" --mount --uts --ipc --net --pid --cgroup \
            env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 SYSTEMD_PAGER=cat SYSTEMD_COLORS=0 "$@"
        ;;
    sweep) with_groups "$0" swept "$1" ;;
    swept) sweep "$1" ;;
    *)
        sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
        exit 64
        ;;
esac
