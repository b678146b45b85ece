#!/bin/sh
# Build the static library that src/entrypoint.o is linked with.
#   cargo-build.sh <folder to add to the PATH> <target folder> [option...]
# Called from src/, by Makevars, with what configure has found.

set -e
PATH=${1:+$1:}$PATH
export PATH
target_dir=$2
shift 2

# A default target of the user's would move the library elsewhere.
unset CARGO_BUILD_TARGET

# build [option...], beside those that configure has chosen
options=$*
build() {
    # shellcheck disable=SC2086
    cargo build --locked -j 2 --release --package kliepnet $options \
        --manifest-path rust/Cargo.toml --target-dir "$target_dir" "$@"
}

# Does cargo have all the crates, whatever else went wrong?
has_crates() {
    host=$(rustc -vV | sed -n 's/^host: //p')
    cargo fetch --locked --offline --manifest-path rust/Cargo.toml \
        --target "$host" > /dev/null 2>&1
}

# What cargo says of crates that it cannot get is long, and no help.
explain_crates() {
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
    if mkdir -p "$cargo_home" 2> /dev/null && [ -w "$cargo_home" ]; then
        echo "kliepnet: cargo could not fetch the crates that are needed:" \
            "connect to the network and try again, or install the tarball" \
            "that 'make dist' makes, which has them inside."
    else
        echo "kliepnet: cargo has no write access to $cargo_home, where it" \
            "keeps crates: set CARGO_HOME to a folder of yours and try again."
    fi
}

if [ ! -f rust/vendor.tar.xz ]; then
    build && exit
    has_crates || explain_crates >&2
    exit 1
fi

# The tarball of a release brings its crates along. They and the cargo home
# that points to them live here for this build alone.
CARGO_HOME=$PWD/rust/cargo-home
export CARGO_HOME
trap 'rm -rf rust/vendor "$CARGO_HOME"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf rust/vendor "$CARGO_HOME"
mkdir "$CARGO_HOME"
xz -dc rust/vendor.tar.xz | (cd rust && tar xf -)
cat > "$CARGO_HOME/config.toml" << CONFIG
[source.crates-io]
replace-with = "vendored"
[source.vendored]
directory = "$PWD/rust/vendor"
CONFIG
build --offline

# Nobody builds here again: keep the library and drop the rest.
if [ "$target_dir" = rust/target ]; then
    mv rust/target/release/libkliepnet.a rust/libkliepnet.a
    rm -rf rust/target
    mkdir -p rust/target/release
    mv rust/libkliepnet.a rust/target/release/libkliepnet.a
fi
