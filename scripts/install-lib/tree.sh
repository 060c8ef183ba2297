# shellcheck shell=bash
# The files of an installation, below a directory: what scripts/install copies and scripts/package packs.
#
# Sourced, never run, behind lib.sh, which says where `root` is.
# shellcheck disable=SC2154

# Builds both programs for release, as the owner of the tree, and prints where they are.
build_programs() {
    local -a as=()
    local log product
    log=$(mktemp)
    if [[ ${SUDO_USER:-root} != root ]] && [[ ! -e $root/.build || ! -O $root/.build ]]; then
        as=(runuser -u "$SUDO_USER" -- env "PATH=$PATH")
    fi
    for product in starshipd starshipctl; do
        (cd "$root" && "${as[@]}" swift build -c release --static-swift-stdlib --product "$product") >"$log" 2>&1 || {
            tail -n 30 "$log" >&2
            fail "the build failed"
        }
    done
    rm -f "$log"
    say "$root/.build/release"
}

# Writes a program that stands alone: what the scripts share, and a part of its own behind it.
write_alone() {
    local part
    say "#!/bin/bash" "$1" "set -euo pipefail" ""
    declare -f say fail
    say ""
    for part in setup lan lan-make; do sed 1d "$root/scripts/install-lib/$part.sh"; done
}

# Writes what stays on the machine, /usr/lib/starship/setup.
write_setup() {
    write_alone "# What may be wanted of an installed gateway without its source tree."
    say ""
    declare -f missing_packages hold_services release_services need_packages
    sed 1d "$root/scripts/install-lib/lan-command.sh"
    sed 1d "$root/scripts/install-lib/later.sh"
}

maintainer="Starship Gateway maintainers <maintainers@starship.invalid>"

# The version of the programs in the tree.
program_version() { "$tree/usr/bin/starshipd" --version | awk '{ print $2 }'; }

# Puts a file, with its directories, below the tree.
put() { install -D -m "$1" "$2" "$tree$3"; }

# Puts what systemd and udev read where they look for it; what is of another kind must not be forgotten.
put_units() {
    local file name
    for file in "$root"/Configs/systemd/*; do
        name=${file##*/}
        case $name in
            *.service | *.socket | *.timer | *.path | *.target) put 0644 "$file" "/usr/lib/systemd/system/$name" ;;
            *.rules) put 0644 "$file" "/usr/lib/udev/rules.d/$name" ;;
            *.md) ;;
            *)
                [[ -f $file && -x $file ]] || fail "nobody has said where Configs/systemd/$name belongs" \
                    "scripts/install-lib/tree.sh, put_units"
                put 0755 "$file" "/usr/lib/starship/$name"
                ;;
        esac
    done
}

put_shared() {
    local file
    for file in "$root"/Configs/phones/*; do put 0644 "$file" "/usr/share/starship/phones/${file##*/}"; done
    put 0644 "$root/Configs/health/pages.txt" /usr/share/starship/health/pages.txt
    put 0644 "$root/Configs/openapi.json" /usr/share/starship/openapi.json
    for file in "$root"/Configs/*.json5 "$root"/Configs/*.conf; do
        put 0644 "$file" "/usr/share/doc/starship-gateway/examples/${file##*/}"
    done
    for file in "$root"/Configs/prometheus/* "$root"/Configs/grafana/* "$root"/Configs/ways/* "$root"/Configs/keepalived/*; do
        # Programs are where the examples say that they are.
        if [[ -x $file ]]; then
            put 0755 "$file" "/usr/share/starship/${file#"$root/Configs/"}"
        else
            put 0644 "$file" "/usr/share/doc/starship-gateway/examples/${file#"$root/Configs/"}"
        fi
    done
}

put_documents() {
    local documents=/usr/share/doc/starship-gateway file
    for file in README.md SECURITY.md CHANGELOG.md; do put 0644 "$root/$file" "$documents/$file"; done
    # Debian's own form of it, which some tools read.
    say "starship-gateway ($(program_version)) stable; urgency=medium" "" "  * $documents/CHANGELOG.md says what is new." "" \
        " -- $maintainer  $(date -R -r "$root/CHANGELOG.md")" | gzip -9n >"$tree$documents/changelog.gz"
    chmod 0644 "$tree$documents/changelog.gz"
    put 0644 "$root/scripts/install-lib/copyright" "$documents/copyright"
}

# What the programs say of themselves: pages and completions.
put_words() {
    local programs=$1 pages=$tree/usr/share/man page
    "$root/scripts/man" --binaries "$programs" --into "$pages"
    for page in "$pages"/man*/*; do gzip -9n "$page"; done
    mkdir -p "$tree/usr/share/bash-completion/completions" "$tree/usr/share/zsh/vendor-completions" \
        "$tree/usr/share/fish/vendor_completions.d"
    "$programs/starshipctl" completion bash >"$tree/usr/share/bash-completion/completions/starshipctl"
    "$programs/starshipctl" completion zsh >"$tree/usr/share/zsh/vendor-completions/_starshipctl"
    "$programs/starshipctl" completion fish >"$tree/usr/share/fish/vendor_completions.d/starshipctl.fish"
    put 0644 "$root/Configs/completions/starshipd.bash" /usr/share/bash-completion/completions/starshipd
    put 0644 "$root/Configs/completions/starshipd.zsh" /usr/share/zsh/vendor-completions/_starshipd
    put 0644 "$root/Configs/completions/starshipd.fish" /usr/share/fish/vendor_completions.d/starshipd.fish
}

# Makes the tree of an installation from a directory with both programs: make_tree PROGRAMS DIRECTORY.
make_tree() {
    local programs=$1 name
    tree=$2
    umask 022
    for name in starshipd starshipctl; do
        [[ -x $programs/$name ]] || fail "$programs/$name is missing" "--binaries names a directory with both programs"
        put 0755 "$programs/$name" "/usr/bin/$name"
        if [[ $(head -c 4 "$programs/$name") == $'\x7fELF' ]] && command -v strip >/dev/null; then
            strip "$tree/usr/bin/$name"
        fi
    done
    put_units
    put_shared
    put_documents
    put_words "$programs"
    write_setup >"$tree/setup"
    put 0755 "$tree/setup" /usr/lib/starship/setup
    rm "$tree/setup"
    : >"$tree/usr/lib/starship/files"
    (cd "$tree" && find . -type f -printf '/%P\n') | LC_ALL=C sort >"$tree/usr/lib/starship/files.new"
    grep -vxF /usr/lib/starship/files.new "$tree/usr/lib/starship/files.new" >"$tree/usr/lib/starship/files"
    rm "$tree/usr/lib/starship/files.new"
}
