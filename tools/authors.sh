#!/bin/sh
# The authors and licences of the crates that a release carries, as inst/AUTHORS
# has them, from their manifests.
#   authors.sh <folder of vendored crates>

set -e
cat << 'HEAD'
The source package contains, in src/rust/vendor.tar.xz, the Rust crates below,
which the library is built from. Each is copyrighted by its authors, and comes
under the licence that is named, whose text lies with the crate. Of crates that
no supported system builds only the manifest and the licence are there.
Made by `make authors`.
HEAD
for manifest in "$1"/*/Cargo.toml; do
    awk '
        /^\[/ { inside = ($0 == "[package]"); listing = 0 }
        !inside { next }
        /^authors = / { listing = 1 }
        listing {
            line = $0
            while (match(line, /"[^"]*"/)) {
                author = substr(line, RSTART + 1, RLENGTH - 2)
                sub(/ *<[^>]*>/, "", author)
                authors = authors (authors == "" ? "" : ", ") author
                line = substr(line, RSTART + RLENGTH)
            }
            if (/\]/) listing = 0
            next
        }
        /^(name|version|license|license-file|repository) = / {
            value = $0
            sub(/^[^"]*"/, "", value); sub(/"[^"]*$/, "", value)
            field[$1] = value
        }
        END {
            if (authors == "") authors = "the contributors of " field["repository"]
            licence = field["license"]
            if (licence == "") licence = "see " field["license-file"]
            printf "\n%s %s\n", field["name"], field["version"]
            printf "  licence: %s\n  authors: %s\n", licence, authors
        }' "$manifest"
done
