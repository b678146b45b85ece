#!/bin/sh
# Install what is missing, quietly when nothing is.
#   setup.sh run | test | coverage | memcheck | lint | document | check |
#       bioccheck | site | msrv | windows | fresh |
#       cluster
# On Debian and Ubuntu as root by apt; elsewhere it names what to install.

set -e
cd "$(dirname "$0")/.."
. tools/rust.sh
purpose=${1:-run}
log=build/setup.log
if ! mkdir -p build 2> /dev/null || [ ! -w build ]; then
    echo "set-up: no write access to $PWD: copy this tree to a folder of" \
        "yours and try again." >&2
    exit 1
fi

can_install() {
    command -v apt-get > /dev/null && [ "$(id -u)" = 0 ]
}

# ---- what each purpose needs -----------------------------------------------

# The R packages in a field of DESCRIPTION, without their versions.
described() {
    awk -v field="$1:" '
        /^[^ ]/ { inside = ($1 == field) }
        inside { sub(field, ""); gsub(/\([^)]*\)/, ""); gsub(/[, ]+/, "\n")
                 print }' DESCRIPTION | sed '/^$/d'
}

# Data of vignettes, which are built for a release and not for a test.
vignettes="dslabs MASS"
tested=$(described Suggests | grep -vx -e dslabs -e MASS || true)

# By rustup, beside those there are: a Rust, or libraries for another system.
toolchain=
target=
optional=
commands="R cc make xz"
packages=$(described Imports)
case $purpose in
run) ;;
test)
    # Tests that need a page maker, a browser or another package are left out
    # where there is none, if it cannot be installed.
    if can_install; then
        commands="$commands pandoc chromium"
    else
        optional=$(echo "$tested" | grep -vx -e testthat -e withr)
    fi
    packages="$packages $tested"
    ;;
coverage)
    commands="$commands git pandoc xz"
    packages="$packages $tested covr"
    ;;
memcheck) commands="$commands valgrind" ;;
lint)
    commands="$commands cargo-fmt cargo-clippy"
    packages="$packages lintr"
    ;;
document) packages="$packages roxygen2" ;;
check)
    commands="$commands git qpdf checkbashisms pandoc pngquant"
    packages="$packages $tested $vignettes"
    ;;
bioccheck)
    commands="$commands git pandoc"
    packages="$packages $tested $vignettes BiocCheck"
    ;;
site)
    commands="$commands pandoc"
    # Formulas look better with it.
    if can_install; then commands="$commands fonts-stix"; fi
    packages="$packages $tested $vignettes pkgdown"
    ;;
msrv)
    commands="$commands git rustup"
    toolchain=$(rust_minimum)
    ;;
fresh) commands="$commands git mmdebstrap tinyproxy unshare" ;;
cluster)
    commands="$commands slurmctld slurmd sinfo ip hostname unshare"
    packages="$packages future.batchtools"
    ;;
windows)
    commands="$commands git rustup x86_64-w64-mingw32-gcc wine64"
    target=x86_64-pc-windows-gnu
    ;;
*)
    echo "set-up: unknown purpose '$purpose'" >&2
    exit 2
    ;;
esac

# ---- what is missing -------------------------------------------------------

# Debian's package for a command.
package_of() {
    case $1 in
    R) echo r-base-core ;;
    cc) echo gcc libc6-dev ;;
    xz) echo xz-utils ;;
    checkbashisms) echo devscripts ;;
    sinfo) echo slurm-client ;;
    ip) echo iproute2 ;;
    x86_64-w64-mingw32-gcc) echo gcc-mingw-w64-x86-64 ;;
    *) echo "$1" ;;
    esac
}

# Debian has wine64 where no PATH leads, and a font is not a command.
has_command() {
    command -v "$1" > /dev/null ||
        { [ "$1" = wine64 ] && [ -x /usr/lib/wine/wine64 ]; } ||
        { [ "$1" = fonts-stix ] && [ -d /usr/share/fonts/opentype/stix-word ]; }
}

missing_commands() {
    for name in $commands; do
        has_command "$name" || echo "$name"
    done
}

missing_packages() {
    command -v Rscript > /dev/null || return 0
    # shellcheck disable=SC2086
    Rscript --vanilla -e '
        packages <- commandArgs(TRUE)
        cat(packages[!nzchar(vapply(packages, function(package) {
            system.file(package = package)
        }, ""))])' $packages
}

# ---- getting it ------------------------------------------------------------

# Debian's package for an R package, which is CRAN's or Bioconductor's.
r_package_of() {
    lower=$(echo "$1" | tr '[:upper:]' '[:lower:]')
    if apt-cache show "r-bioc-$lower" > /dev/null 2>&1 &&
        ! apt-cache show "r-cran-$lower" > /dev/null 2>&1; then
        echo "r-bioc-$lower"
    else
        echo "r-cran-$lower"
    fi
}

# apt <arguments...>: waits while another apt is at work, and says so. Some of
# its locks know DPkg::Lock::Timeout, that of the package lists does not.
apt() {
    waited=0
    until DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=1 "$@" > "$log" 2>&1; do
        grep -q "Could not get lock" "$log" || return 1
        if [ "$waited" -ge 900 ]; then
            echo "set-up: another apt has held its lock for 15 minutes" >&2
            return 1
        fi
        [ "$waited" -gt 0 ] ||
            echo "set-up: another apt is at work; waiting for it to finish"
        sleep 2
        waited=$((waited + 3))
    done
}

apt_update() {
    [ -z "$apt_updated" ] || return 0
    apt update || { cat "$log" >&2; exit 1; }
    apt_updated=yes
}

apt_install() {
    echo "set-up: installing $*"
    apt_update
    apt install --yes --no-install-recommends "$@" && return
    cat "$log" >&2
    echo "set-up: apt could not install all of: $*" >&2
    exit 1
}

apt_updated=
lacking=
find_rust || lacking="$lacking rust"
for name in $(missing_commands); do
    lacking="$lacking $name"
done

# Debian has a newer Rust under other names, for where its own is too old.
rust_suffix() {
    own=$(apt-cache show --no-all-versions rustc 2> /dev/null |
        sed -n 's/^Version: \([0-9.]*\).*/\1/p')
    version_at_least "${own:-0}" "$(rust_minimum)" || echo -web
}

if [ -n "$lacking" ] && can_install; then
    # Only then does apt know what there is.
    apt_update
    wanted=
    for name in $lacking; do
        case $name in
        # Without the certificates cargo cannot fetch anything.
        rust)
            web=$(rust_suffix)
            wanted="$wanted cargo$web rustc$web ca-certificates"
            ;;
        cargo-fmt) wanted="$wanted rustfmt$(rust_suffix)" ;;
        # Debian 12 has no clippy that goes with cargo-web, and no rustup.
        cargo-clippy | rustup) ;;
        *) wanted="$wanted $(package_of "$name")" ;;
        esac
    done
    # shellcheck disable=SC2086
    [ -z "$wanted" ] || apt_install $wanted
    lacking=$(missing_commands)
    find_rust || lacking="$lacking rust"
fi

packages=$(missing_packages)
if [ -n "$packages" ] && can_install; then
    apt_update
    wanted=
    for name in $packages; do
        wanted="$wanted $(r_package_of "$name")"
    done
    # shellcheck disable=SC2086
    apt_install $wanted
    packages=$(missing_packages)
fi

# has_toolchain <version>
has_toolchain() {
    rustup which --toolchain "$1" rustc > /dev/null 2>&1
}

if [ -n "$toolchain" ] && command -v rustup > /dev/null &&
    ! has_toolchain "$toolchain"; then
    echo "set-up: rustup toolchain install $toolchain"
    rustup toolchain install "$toolchain" --profile minimal > "$log" 2>&1 || {
        cat "$log" >&2
        echo "set-up: rustup could not install Rust $toolchain" >&2
        exit 1
    }
fi

if [ -n "$target" ] && command -v rustup > /dev/null &&
    ! rustup target list --installed | grep -qx "$target"; then
    echo "set-up: rustup target add $target"
    rustup target add "$target" > "$log" 2>&1 || {
        cat "$log" >&2
        echo "set-up: rustup could not add the target $target" >&2
        exit 1
    }
fi

# ---- or saying what to get -------------------------------------------------

# What to type for R packages, which CRAN or Bioconductor has.
explain_packages() {
    quoted=$(printf '"%s", ' "$@")
    echo "R packages, in R by" \
        "BiocManager::install(c(${quoted%, })), which takes them from CRAN" \
        "and Bioconductor"
}

explain() {
    case $1 in
    rust) explain_rust ;;
    R) echo "R 4.2 or newer" ;;
    rustup) echo "rustup, which installs one Rust beside another" ;;
    cc) echo "a C compiler (cc)" ;;
    cargo-fmt | cargo-clippy)
        echo "${1#cargo-} (rustup component add ${1#cargo-})"
        ;;
    *) echo "$1" ;;
    esac
}

# What can be done without is named, and done without.
without=$(for name in $packages; do
    ! echo "$optional" | grep -qx "$name" || echo "$name"
done)
if [ -n "$without" ]; then
    packages=$(for name in $packages; do
        echo "$optional" | grep -qx "$name" || echo "$name"
    done)
    # shellcheck disable=SC2086
    echo "set-up: tests that need them are left out without" \
        "$(explain_packages $without)." >&2
fi
[ -n "$lacking$packages" ] || exit 0
# Rust has a sentence of its own.
if [ "$(echo $lacking)" = rust ] && [ -z "$packages" ]; then
    echo "set-up: $(explain_rust)" >&2
    exit 1
fi
message=
for name in $lacking; do
    message="$message; $(explain "$name" | sed 's/\.$//')"
done
# shellcheck disable=SC2086
[ -z "$packages" ] || message="$message; $(explain_packages $packages)"
echo "set-up: install what is missing, and try again: ${message#; }." >&2
exit 1
