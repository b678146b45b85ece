#!/bin/sh
# Find the llvm-profdata and llvm-cov that can read what this rustc writes:
# for tools/coverage.sh, after find_rust. Other versions refuse its format.

# Sets llvm_bin, beside rustc, where rustup puts the component llvm-tools.
find_llvm() {
    host=$("$rustc" -vV | sed -n 's/^host: //p')
    llvm_bin=$("$rustc" --print sysroot)/lib/rustlib/$host/bin
    [ ! -x "$llvm_bin/llvm-cov" ] || return 0
    echo "set-up: rustup component add llvm-tools"
    rustup component add llvm-tools > build/llvm.log 2>&1
    [ ! -x "$llvm_bin/llvm-cov" ] || return 0
    echo "coverage: install the llvm-tools of this rustc (with rustup:" \
        "rustup component add llvm-tools), and try again." >&2
    return 1
}
