#!/bin/sh
# Small cases under valgrind: the unit tests of the core, and every routine of
# the loaded library from R. Prints errors, and bytes lost, of which kliepnet is
# part of the story; fails if there are any. R and the packages it loads have
# errors of their own, in whose stacks our library does not stand. Then the
# unit tests of the core once more under Miri, which also sees what is undefined
# and happens to work. ONLY="core", "library" or "miri" checks a part.

cd "$(dirname "$0")/.." || exit 1
. tools/rust.sh
sh tools/setup.sh memcheck || exit 1
find_rust
folder=$PWD/build/memcheck
rm -rf "$folder"
mkdir -p "$folder"
failed=0

# Rust's threads give way to each other under valgrind only if it is fair.
watch="--quiet --leak-check=full --show-leak-kinds=definite,indirect \
    --errors-for-leak-kinds=definite,indirect --fair-sched=yes \
    --num-callers=40 --xml=yes"

# count <what> <file>: errors and lost bytes in which $ours takes part.
count() {
    awk -v what="$1" -v ours="$ours" '
        /<error>/ { inside = 1; mine = leak = 0; bytes = 0; all++ }
        inside && index($0, ours) { mine = 1 }
        inside && /<kind>Leak_/ { leak = 1 }
        inside && /<leakedbytes>/ { gsub(/[^0-9]/, ""); bytes = $0 + 0 }
        /<\/error>/ {
            inside = 0
            if (mine && leak) { lost += bytes } else if (mine) { errors++ }
            if (!mine) others++
        }
        END {
            printf "memcheck: %s: %d errors, %d bytes lost", what, errors, lost
            if (others) printf " (%d reports without kliepnet)", others
            printf "\n"
            exit errors + lost > 0
        }' "$2"
}

# A program that did not run to its end has not been checked.
report() {
    if ! grep -q "</valgrindoutput>" "$2" 2> /dev/null; then
        echo "memcheck: $1: valgrind did not get to its end" >&2
        failed=1
        return
    fi
    count "$1" "$2" || failed=1
}

check_core() {
    log=$folder/core.log
    cargo test --locked -j 2 --lib --no-run \
        --manifest-path src/rust/Cargo.toml > "$log" 2>&1
    program=$(sed -n 's/^ *Executable .*(\(.*\))$/\1/p' "$log")
    [ -x "$program" ] || program=src/rust/$program
    ours=kliepnet_core
    # shellcheck disable=SC2086
    valgrind $watch --xml-file="$folder/core.xml" "$program" \
        --test-threads=1 >> "$log" 2>&1 || { tail -n 20 "$log" >&2; failed=1; }
    tests=$(sed -n 's/^test result: ok\. \([0-9]*\) passed.*/\1/p' "$log")
    report "core, ${tests:-no} unit tests" "$folder/core.xml"
}

check_library() {
    sh tools/install.sh build/library || { failed=1; return; }
    log=$folder/r.log
    ours=kliepnet.so
    # shellcheck disable=SC2086
    R_LIBS="$PWD/build/library${R_LIBS:+:$R_LIBS}" R --vanilla --no-echo \
        -d "valgrind $watch --xml-file=$folder/r.xml" \
        -f tools/memcheck.R --args "$folder/cases" > "$log" 2>&1 ||
        { tail -n 20 "$log" >&2; failed=1; }
    cases=$(cat "$folder/cases" 2> /dev/null)
    report "library under R, ${cases:-no} cases" "$folder/r.xml"
}

# Miri comes with a nightly Rust, which rustup installs beside the others.
find_miri() {
    cargo +nightly miri --version > /dev/null 2>&1 && return
    echo "set-up: rustup toolchain install nightly, with miri"
    rustup toolchain install nightly --profile minimal \
        --component miri --component rust-src > "$folder/rustup.log" 2>&1 &&
        return
    echo "memcheck: for Miri install a nightly Rust (with rustup: rustup" \
        "toolchain install nightly --component miri,rust-src), and try" \
        "again." >&2
    return 1
}

check_miri() {
    find_miri || { failed=1; return; }
    log=$folder/miri.log
    # Floats as the processor has them, not with errors thrown in. Rayon's
    # threads last as long as the process, and its queues keep to the newer of
    # the two sets of rules on borrows, and hide pointers in integers.
    export MIRIFLAGS="-Zmiri-deterministic-floats -Zmiri-ignore-leaks \
        -Zmiri-tree-borrows -Zmiri-permissive-provenance"
    # Unit tests, and the smallest of the others: to interpret takes a
    # thousand times as long as to run, and much more for vectors.
    for tests in --lib "--test suite smallest::"; do
        # shellcheck disable=SC2086
        RAYON_NUM_THREADS=2 CARGO_TARGET_DIR="$PWD/build/miri" \
            cargo +nightly miri test --locked -j 2 --package kliepnet-core \
            --manifest-path src/rust/Cargo.toml $tests >> "$log" 2>&1 ||
            { tail -n 40 "$log" >&2; failed=1; }
    done
    awk '/^test result:/ { passed += $4; left += $8 }
         /error: Undefined Behavior/ { errors++ }
         END { printf "memcheck: core under Miri, %d tests: %d errors", passed, errors
               printf " (%d tests too large for it)\n", left }' "$log"
}

for part in ${ONLY:-core library miri}; do
    "check_$part"
done
exit "$failed"
