#!/bin/sh
# Find the llvm-profdata and llvm-cov that can read what this rustc writes:
# for tools/coverage.sh, after find_rust. Other versions refuse its format.

# Sets llvm_bin: beside rustc (`rustup component add llvm-tools`), or a copy of
# that component in build/, fetched once and checked.
find_llvm() {
    host=$("$rustc" -vV | sed -n 's/^host: //p')
    llvm_bin=$("$rustc" --print sysroot)/lib/rustlib/$host/bin
    [ ! -x "$llvm_bin/llvm-cov" ] || return 0
    name=llvm-tools-$rustc_version-$host
    llvm_bin=build/$name/llvm-tools-preview/lib/rustlib/$host/bin
    [ ! -x "$llvm_bin/llvm-cov" ] || return 0
    fetch_llvm "$name" && [ -x "$llvm_bin/llvm-cov" ] && return 0
    echo "coverage: please install the llvm-tools of rustc $rustc_version" \
        "(rustup component add llvm-tools), and try again." >&2
    return 1
}

fetch_llvm() {
    server=${RUSTUP_DIST_SERVER:-https://static.rust-lang.org}
    echo "set-up: fetching $1"
    (
        cd build || exit 1
        for file in "$1.tar.xz" "$1.tar.xz.sha256"; do
            curl --silent --fail --location --max-time 300 \
                --remote-name "$server/dist/$file" || exit 1
        done
        # The file holds the sum alone, without a name.
        sum=$(cut -c 1-64 "$1.tar.xz.sha256")
        echo "$sum  $1.tar.xz" | sha256sum --check --status || exit 1
        tar xf "$1.tar.xz" && rm -f "$1.tar.xz" "$1.tar.xz.sha256"
    )
}
