#!/bin/sh
# The source tarball, with the crates of Cargo.lock inside. It is put together
# in build/dist: the archive of crates never lies in the source tree.

set -e
cd "$(dirname "$0")/.."
. tools/rust.sh
find_rust || { explain_rust >&2; exit 1; }
log=$PWD/build/dist.log
stage=$PWD/build/dist
rm -rf "$stage"
mkdir -p "$stage/kliepnet"

# What is committed, or would be: nothing that a build has left behind.
git ls-files --cached --others --exclude-standard |
    while IFS= read -r file; do
        [ ! -f "$file" ] || printf '%s\n' "$file"
    done |
    tar cf - -T - | (cd "$stage/kliepnet" && tar xf -)

cd "$stage/kliepnet/src/rust"
# What cargo prints is the configuration that tools/cargo-build.sh writes.
cargo vendor --locked "$stage/vendor" > "$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
(cd "$stage" && tar cf - vendor) | xz -9e > vendor.tar.xz

cd "$stage"
R CMD build kliepnet >> "$log" 2>&1 || {
    tail -n 40 "$log" >&2
    exit 1
}
cd ../..
mv "$stage"/kliepnet_*.tar.gz .
rm -rf "$stage"
ls -l kliepnet_*.tar.gz | awk '{ printf "dist: %s (%.1f MB)\n", $NF, $5 / 1e6 }'
