#!/bin/sh
# A source tarball with the crates of Cargo.lock inside, into a folder. It is
# put together there: the archive of crates never lies in the source tree.
#   pack.sh <folder> [option of R CMD build...]

set -e
cd "$(dirname "$0")/.."
. tools/rust.sh
find_rust || { explain_rust >&2; exit 1; }
stage=$1
shift
rm -rf "$stage"
mkdir -p "$stage"
stage=$(cd "$stage" && pwd)
log=$stage.log
sh tools/stage.sh "$stage/kliepnet"

# What cargo prints is the configuration that tools/cargo-build.sh writes.
sh tools/vendor.sh "$stage/vendor" > "$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
if ! sh tools/authors.sh "$stage/vendor" | cmp -s - inst/AUTHORS; then
    echo "dist: inst/AUTHORS is not that of the crates: 'make authors'" \
        "writes it anew." >&2
    exit 1
fi
cd "$stage"
tar cf - vendor | xz -9e > kliepnet/src/rust/vendor.tar.xz
rm -rf vendor

R CMD build "$@" kliepnet >> "$log" 2>&1 || {
    tail -n 40 "$log" >&2
    exit 1
}
rm -rf kliepnet
