#!/bin/sh
# What configure says and writes, with every kind of Rust it may meet. The
# Rust is made up: a folder with a `cargo` and a `rustc` that only tell their
# version. Last line: "N passed, N failed".

top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# The commands configure may use, and no Rust that this machine may have.
mkdir "$work/bin"
for name in sh sed awk dirname uname cat; do
    ln -s "$(command -v "$name")" "$work/bin/$name"
done

# fake_rust <folder> <version>: no version makes commands that do not run, as
# rustup's are before a toolchain is installed.
fake_rust() {
    mkdir -p "$1"
    for name in cargo rustc; do
        if [ -n "$2" ]; then
            printf '#!/bin/sh\necho "%s %s (made up)"\n' "$name" "$2"
        else
            printf '#!/bin/sh\nexit 1\n'
        fi > "$1/$name"
        chmod +x "$1/$name"
    done
}

# A package with nothing but its configure, and an empty home.
fresh() {
    rm -rf "$work/package" "$work/home" "$work/rust"
    mkdir -p "$work/package/src/rust" "$work/package/tools" "$work/home"
    cp "$top/configure" "$top/DESCRIPTION" "$work/package"
    cp "$top/tools/rust.sh" "$work/package/tools"
    cp "$top/src/Makevars.in" "$work/package/src"
}

# run_configure [NAME=value...]: sets status, and said to all it printed.
run_configure() {
    said=$(cd "$work/package" && env -i HOME="$work/home" \
        PATH="$work/rust:$work/bin" "$@" "$work/bin/sh" ./configure 2>&1)
    status=$?
}

# expect <what should be true> <command...>
expect() {
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        echo "  status $status, said: $said"
    fi
}

says() { printf '%s\n' "$said" | grep -q -e "$1"; }
succeeds() { [ "$status" -eq 0 ]; }
fails() { [ "$status" -ne 0 ] && [ ! -f "$work/package/src/Makevars" ]; }
one_line() { [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ]; }
writes() { grep -q -e "$1" "$work/package/src/Makevars"; }
filled_in() { ! grep -q '@' "$work/package/src/Makevars"; }

minimum=$(sed -n 's/.*rustc >= \([0-9.]*\).*/\1/p' "$top/DESCRIPTION")

fresh
run_configure
expect "no Rust: configure fails" fails
expect "no Rust: it says what to install" says "install Rust $minimum or newer"
expect "no Rust: in one sentence" one_line

fresh
fake_rust "$work/rust" ""
run_configure
expect "a rustup without a toolchain counts as no Rust" fails
expect "a rustup without a toolchain: says what to install" \
    says "install Rust $minimum or newer"

fresh
fake_rust "$work/rust" 1.63.0
run_configure
expect "too old: configure fails" fails
expect "too old: it says what is needed" says "needs rustc $minimum or newer"
expect "too old: it says what was found, and where" \
    says "found 1.63.0 ($work/rust/rustc)"
expect "too old: in one sentence" one_line

fresh
fake_rust "$work/rust" 1.9.0
run_configure
expect "versions are compared as numbers, not as text" fails

fresh
fake_rust "$work/rust" "$minimum"
run_configure
expect "the minimum itself will do" succeeds
expect "both versions are printed: cargo" says "cargo $minimum (made up)"
expect "both versions are printed: rustc" says "rustc $minimum (made up)"
expect "crates are fetched without an archive" says "fetched by cargo"
expect "Makevars has no gaps left" filled_in
expect "Makevars names the target folder" writes "rust/target/release/libkliepnet.a"

fresh
fake_rust "$work/rust" 1.100.0-nightly
run_configure
expect "a later version of a nightly will do" succeeds

fresh
fake_rust "$work/home/.cargo/bin" 2.0.0
run_configure
expect "Rust is found where rustup installs it" succeeds
expect "and built with from there" writes "$work/home/.cargo/bin"

fresh
fake_rust "$work/rust" 1.63.0
fake_rust "$work/home/.cargo/bin" 2.0.0
run_configure
expect "an old Rust on the PATH does not hide a new one" says "rustc 2.0.0"

fresh
fake_rust "$work/home/cargo/bin" 2.0.0
run_configure CARGO_HOME="$work/home/cargo"
expect "Rust is found in CARGO_HOME" succeeds

fresh
fake_rust "$work/rust" 2.0.0
touch "$work/package/src/rust/vendor.tar.xz"
run_configure
expect "an archive of crates is used, offline" says "vendored ones, offline"

fresh
fake_rust "$work/rust" 2.0.0
run_configure CARGO_TARGET_DIR=/elsewhere
expect "a target folder of the user's is used" \
    writes "= /elsewhere/release/libkliepnet.a"

fresh
fake_rust "$work/rust" 2.0.0
run_configure CARGO_TARGET_DIR=here
expect "a relative one is taken from the package's folder" \
    writes "= $work/package/here/release/libkliepnet.a"

stated_in_cargo() {
    case $minimum in
    "$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$top/src/rust/Cargo.toml")"*) ;;
    *) return 1 ;;
    esac
}
expect "Cargo.toml states the same minimum" stated_in_cargo

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
