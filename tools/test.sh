#!/bin/sh
# Every test there is, then one line with the sum: "N passed, N failed".
# Whatever keeps a runner from running its tests is a failure too.

cd "$(dirname "$0")/.." || exit 1
. tools/rust.sh
# A line for each runner: how many tests passed, failed and were skipped.
counts=build/test-counts

# The last line, whatever happens.
finish() {
    for runner in cargo configure testthat; do
        grep -q "^$runner " "$counts" ||
            give_up "$runner" "$runner did not get to its end"
    done
    # shellcheck disable=SC2046
    set -- $(awk '{ p += $2; f += $3; s += $4 }
                  END { print p + 0, f + 0, s + 0 }' "$counts")
    echo "$1 passed, $2 failed$([ "$3" -eq 0 ] || echo ", $3 skipped")"
    [ "$2" -eq 0 ] && exit 0
    exit 1
}

# count <runner> <passed> <failed> <skipped>
count() {
    echo "$1: $2 passed, $3 failed$([ "$4" -eq 0 ] || echo ", $4 skipped")"
    echo "$1 $2 $3 $4" >> "$counts"
    [ $(($2 + $3)) -gt 0 ] || give_up "$1" "$1 ran no test"
}

# give_up <runner> <why>: one failure for a runner that did not get as far as
# its tests.
give_up() {
    echo "$2" >&2
    echo "$1 0 1 0" >> "$counts"
}

# The core's tests and its property tests. The core is built once for both,
# with the crates of the second; a test holds these to those of the first.
run_cargo() {
    log=build/cargo-test.log
    # shellcheck disable=SC2046
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/src/rust/target} \
        cargo test --locked -j 2 --no-fail-fast $(rust_features) \
        --package kliepnet-core --package kliepnet-properties \
        --manifest-path src/rust/properties/Cargo.toml > "$log" 2>&1
    status=$?
    # shellcheck disable=SC2046
    set -- $(awk '/^test result:/ { p += $4; f += $6; s += $8 }
                  END { print p + 0, f + 0, s + 0 }' "$log")
    if [ "$status" -ne 0 ]; then
        # From the first sign of trouble, or the end where there is none.
        sed -n '/^failures:$/,$p; /^error/,$p' "$log" | tail -n 80 >&2
        [ "$2" -gt 0 ] || give_up cargo "cargo: cargo test ended with status $status"
    fi
    count cargo "$1" "$2" "$3"
}

run_configure() {
    log=build/configure-test.log
    sh tools/test-configure.sh > "$log" 2>&1
    found=$(tail -n 1 "$log" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
    # shellcheck disable=SC2086
    set -- ${found:-0 1}
    [ "$2" -eq 0 ] || cat "$log" >&2
    count configure "$1" "$2" 0
}

# interruptible <command...>: a shell lets what it starts behind `&` ignore
# Ctrl-C, and the sessions that tests interrupt would inherit that.
interruptible() {
    if env --default-signal=INT true 2> /dev/null; then
        env --default-signal=INT "$@"
    else
        "$@"
    fi
}

run_testthat() {
    found=build/testthat-counts
    rm -f "$found"
    if ! sh tools/install.sh build/library; then
        give_up testthat "the package does not install"
        return
    fi
    interruptible env NOT_CRAN=true \
        R_LIBS="$PWD/build/library${R_LIBS:+:$R_LIBS}" \
        Rscript --no-init-file tools/run-tests.R "$found"
    [ -f "$found" ] || return
    # shellcheck disable=SC2046
    set -- $(cat "$found")
    count testthat "$1" "$2" "$3"
}

# What needs no R.
run_rust() {
    run_cargo
    run_configure
}

mkdir -p build 2> /dev/null
if ! sh tools/setup.sh test; then
    echo "0 passed, 1 failed"
    exit 1
fi
find_rust
use_cargo_home "$PWD/src/rust/cargo-home"
: > "$counts"
# Most tests keep one core busy: these go on beside those in R.
run_rust > build/rust-tests.log 2>&1 &
run_testthat
wait
cat build/rust-tests.log
finish
