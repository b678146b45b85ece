#!/bin/sh
# The crates of Cargo.lock for a release, in a folder, without what no build
# needs: of a crate that our targets do not build (those for the web, and what
# only tests use) cargo wants no more than that it is there, and of the others
# nobody runs the tests, benches and examples.
#   vendor.sh <folder>

set -e
cd "$(dirname "$0")/../src/rust"
folder=$1
cargo vendor --locked --versioned-dirs "$folder"

# ---- which crates are built ------------------------------------------------

# "name-version" of each, on any Unix that rustc knows and on R's Windows, with
# the features that configure may choose.
targets=$(rustc --print target-list |
    grep -E 'linux|darwin|bsd|dragonfly|solaris|illumos|pc-windows-gnu' |
    sed 's/^/--target /')
# shellcheck disable=SC2086
built=$(cargo tree --locked --package kliepnet --all-features \
    --edges normal,build --prefix none $targets | awk '{ sub("^v", "", $2); print $1 "-" $2 }')

is_built() {
    printf '%s\n' "$built" | grep -qxF "$1"
}

# ---- what goes -------------------------------------------------------------

# All but the manifest and the licences, and an empty library in its place. An
# old cargo reads every manifest, and not all editions.
empty() {
    find . -type f ! -name Cargo.toml ! -name .cargo-checksum.json \
        ! -path './LICEN[CS]E*' ! -path './COPYING*' -delete
    find . -type d -empty -delete
    sed 's/^edition = "2024"/edition = "2021"/' Cargo.toml > manifest
    mv manifest Cargo.toml
    mkdir -p src
    : > src/lib.rs
}

# Text is kept where a source file includes it.
is_included() {
    [ -d src ] && grep -rqF "include_str!(\"../$1\")" src
}

trim() {
    rm -rf tests benches examples testdata docs doc ci misc scripts rustdoc \
        .github .circleci Cargo.lock Cargo.toml.orig .cargo_vcs_info.json
    for file in *.md *.rst; do
        [ ! -f "$file" ] || is_included "$file" || rm "$file"
    done
}

# cargo compares what is left with these.
write_checksums() {
    package=$(sed -n 's/.*"package":"\([0-9a-f]*\)".*/\1/p' \
        .cargo-checksum.json)
    files=$(find . -type f ! -name .cargo-checksum.json | sort |
        while IFS= read -r file; do
            sum=$(sha256sum "$file")
            printf '"%s":"%s",' "${file#./}" "${sum%% *}"
        done)
    printf '{"files":{%s},"package":"%s"}' "${files%,}" "$package" \
        > .cargo-checksum.json
}

cd "$folder"
for crate in *; do
    (
        cd "$crate"
        if is_built "$crate"; then trim; else empty; fi
        write_checksums
    )
done
