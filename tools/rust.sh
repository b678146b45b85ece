#!/bin/sh
# Find Rust: for configure and the other scripts here, which read this file
# with `.` from the package's top folder. POSIX sh.

# The oldest rustc that will do, as DESCRIPTION states it.
rust_minimum() {
    sed -n 's/.*rustc >= \([0-9][0-9.]*\).*/\1/p' DESCRIPTION
}

# version_at_least 1.95.0 1.81.0: is the first no older than the second?
version_at_least() {
    printf '%s %s\n' "$1" "$2" | awk '{
        split($1, have, "."); split($2, want, ".")
        for (i = 1; i <= 3; i++) {
            if (have[i] + 0 > want[i] + 0) exit 0
            if (have[i] + 0 < want[i] + 0) exit 1
        }
    }'
}

# What `rustc --version` calls itself: "rustc 1.95.0-beta.2 (...)" is 1.95.0.
version_number() {
    "$1" --version 2> /dev/null |
        sed -n '1s/^[a-z]* \([0-9][0-9.]*[0-9]\).*/\1/p'
}

# Look on the PATH, then where rustup installs, which is put in front of the
# PATH if it is used: cargo calls the rustc it finds there.
# Sets rust_state (ok, old or missing), cargo, rustc, rustc_version, and
# rust_dir, the folder that had to be added to the PATH or nothing.
find_rust() {
    rust_state=missing
    cargo=
    rustc=
    rustc_version=
    # R for Windows has another home than rustup.
    profile=$(cygpath -u "${USERPROFILE:-}" 2> /dev/null) || profile=$HOME
    for rust_dir in "" "${CARGO_HOME:-$HOME/.cargo}/bin" \
        "$HOME/.cargo/bin" "$profile/.cargo/bin"; do
        find_rust_in "$rust_dir" || continue
        [ "$rust_state" = ok ] && return 0
    done
    return 1
}

find_rust_in() {
    rust_path=${1:+$1:}$PATH
    found_cargo=$(PATH=$rust_path; command -v cargo) || return 1
    found_rustc=$(PATH=$rust_path; command -v rustc) || return 1
    found_version=$(PATH=$rust_path; version_number "$found_rustc")
    # A rustup without a toolchain has both commands, and neither runs.
    [ -n "$found_version" ] || return 1
    [ -n "$(PATH=$rust_path; version_number "$found_cargo")" ] || return 1
    cargo=$found_cargo
    rustc=$found_rustc
    rustc_version=$found_version
    rust_state=old
    if version_at_least "$rustc_version" "$(rust_minimum)"; then
        rust_state=ok
        PATH=$rust_path
        export PATH
    fi
    return 0
}

# What to ask of cargo for the rustc that find_rust has found: AVX-512, which
# it knows from 1.89 on. The crates and their tests take it by this name.
rust_features() {
    ! version_at_least "$rustc_version" 1.89.0 || echo "--features avx512"
}

# use_cargo_home <folder>: where cargo's own home cannot be written, crates are
# kept in this folder instead.
use_cargo_home() {
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
    if mkdir -p "$cargo_home" 2> /dev/null && [ -w "$cargo_home" ]; then
        return 0
    fi
    mkdir -p "$1" || return 0
    echo "using crates: in $1, as $cargo_home cannot be written"
    CARGO_HOME=$1
    export CARGO_HOME
}

# Where Rust is to be had.
rust_sources() {
    echo "with rustup; on Debian 13 with 'apt-get install cargo', on Debian" \
        "12 with 'apt-get install cargo-web rustc-web'"
}

# What to do when find_rust did not succeed, in one sentence.
explain_rust() {
    case $rust_state in
    missing)
        echo "kliepnet needs Rust and found no working cargo and rustc:" \
            "install Rust $(rust_minimum) or newer ($(rust_sources)) and try" \
            "again."
        ;;
    old)
        echo "kliepnet needs rustc $(rust_minimum) or newer and found" \
            "$rustc_version ($rustc): update Rust ($(rust_sources)) and try" \
            "again."
        ;;
    esac
}
