#!/bin/sh
# The source tarball of a release, which must not have more bytes than CRAN
# takes.

set -e
cd "$(dirname "$0")/.."
stage=build/dist
most=5000000
sh tools/pack.sh "$stage"
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
