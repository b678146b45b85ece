#!/bin/sh
# The source tarball, with the crates of Cargo.lock inside. It is put together
# in build/dist: the archive of crates never lies in the source tree.

set -e
cd "$(dirname "$0")/.."
. tools/rust.sh
find_rust || { explain_rust >&2; exit 1; }
log=$PWD/build/dist.log
stage=$PWD/build/dist
# CRAN's limit, in bytes.
most=5000000
rm -rf "$stage"
sh tools/stage.sh "$stage/kliepnet"

# What cargo prints is the configuration that tools/cargo-build.sh writes.
sh tools/vendor.sh "$stage/vendor" > "$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
cd "$stage"
tar cf - vendor | xz -9e > kliepnet/src/rust/vendor.tar.xz
rm -rf vendor

R CMD build kliepnet >> "$log" 2>&1 || {
    tail -n 40 "$log" >&2
    exit 1
}
cd ../..
tarball=$(basename "$stage"/kliepnet_*.tar.gz)
size=$(wc -c < "$stage/$tarball")
if [ "$size" -gt "$most" ]; then
    echo "dist: $tarball has $size bytes, and CRAN takes $most." \
        "Its largest files:" >&2
    tar tvzf "$stage/$tarball" | sort -k 3 -n -r | head -n 10 >&2
    exit 1
fi
mv "$stage/$tarball" .
rm -rf "$stage"
echo "$size $tarball" | awk '{ printf "dist: %s (%.1f MB)\n", $2, $1 / 1e6 }'
