#!/bin/sh
# Build the static library that src/entrypoint.o is linked with.
#   cargo-build.sh <folder to add to the PATH> <target folder> <target>
#       [option...]
# Called from src/, by Makevars, with what configure has found; no target means
# that of rustc.

set -e
PATH=${1:+$1:}$PATH
export PATH
target_dir=$2
target=$3
shift 3
options="${target:+--target $target }$*"
library=$target_dir/${target:+$target/}release/libkliepnet.a
# As programs of Windows name it.
here=$(cygpath -m "$PWD" 2> /dev/null || pwd)

# Programs that run while crates are built are linked by the C compiler that R
# names. That of Rtools has all of libgcc in one library, and rustc asks for
# two.
case $target in
*-windows-gnu*)
    name=$(echo "$target" | tr 'a-z-' 'A-Z_')
    export "CARGO_TARGET_${name}_LINKER=${CC%% *}"
    if [ "$(${CC%% *} -print-file-name=libgcc_eh.a)" = libgcc_eh.a ]; then
        mkdir -p "$target_dir/empty"
        printf '!<arch>\n' > "$target_dir/empty/libgcc_eh.a"
        LIBRARY_PATH="${LIBRARY_PATH:+$LIBRARY_PATH;}$here/$target_dir/empty"
        export LIBRARY_PATH
    fi
    ;;
esac

# build [option...], beside those that configure has chosen
build() {
    # shellcheck disable=SC2086
    cargo build --locked -j 2 --release --package kliepnet $options \
        --manifest-path rust/Cargo.toml --target-dir "$target_dir" "$@"
}

# Does cargo have all the crates, whatever else went wrong?
has_crates() {
    host=$(rustc -vV | sed -n 's/^host: //p')
    cargo fetch --locked --offline --manifest-path rust/Cargo.toml \
        --target "${target:-$host}" > /dev/null 2>&1
}

# What cargo says of crates that it cannot get is long, and no help.
explain_crates() {
    echo "kliepnet: cargo could not fetch the crates that are needed:" \
        "connect to the network and try again, or install the tarball" \
        "that 'make dist' makes, which has them inside."
}

if [ ! -f rust/vendor.tar.xz ]; then
    . ../tools/rust.sh
    use_cargo_home "$here/rust/cargo-home"
    build && exit
    has_crates || explain_crates >&2
    exit 1
fi

# The tarball of a release brings its crates along. They and the cargo home
# that points to them live here for this build alone.
CARGO_HOME=$here/rust/cargo-home
export CARGO_HOME
trap 'rm -rf rust/vendor rust/cargo-home' EXIT
trap 'exit 1' HUP INT TERM
rm -rf rust/vendor rust/cargo-home
mkdir rust/cargo-home
xz -dc rust/vendor.tar.xz | (cd rust && tar xf -)
cat > rust/cargo-home/config.toml << CONFIG
[source.crates-io]
replace-with = "vendored"
[source.vendored]
directory = "$here/rust/vendor"
CONFIG
build --offline

# Nobody builds here again: keep the library and drop the rest.
if [ "$target_dir" = rust/target ]; then
    mv "$library" rust/libkliepnet.a
    rm -rf rust/target
    mkdir -p "$(dirname "$library")"
    mv rust/libkliepnet.a "$library"
fi
