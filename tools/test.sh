#!/bin/sh
# Every test there is, then one line with the sum: "N passed, N failed".
# Whatever keeps a runner from running its tests is a failure too.

cd "$(dirname "$0")/.." || exit 1
. tools/rust.sh
passed=0
failed=0
skipped=0

# The last line, whatever happens.
finish() {
    line="$passed passed, $failed failed"
    [ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
    echo "$line"
    [ "$failed" -eq 0 ] && exit 0
    exit 1
}

# count <runner> <passed> <failed> <skipped>
count() {
    echo "$1: $2 passed, $3 failed$([ "$4" -eq 0 ] || echo ", $4 skipped")"
    passed=$((passed + $2))
    failed=$((failed + $3))
    skipped=$((skipped + $4))
    [ $(($2 + $3)) -gt 0 ] || give_up "$1 ran no test"
}

# One failure for a runner that did not get as far as its tests.
give_up() {
    echo "$1" >&2
    failed=$((failed + 1))
}

# run_cargo <name> <folder of the workspace>: all build in the same place.
run_cargo() {
    name=$1
    log=build/$name-test.log
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/src/rust/target} \
        cargo test --locked -j 2 --no-fail-fast \
        --manifest-path "$2/Cargo.toml" > "$log" 2>&1
    status=$?
    counts=$(awk '/^test result:/ { p += $4; f += $6; s += $8 }
                  END { print p + 0, f + 0, s + 0 }' "$log")
    # shellcheck disable=SC2086
    set -- $counts
    if [ "$status" -ne 0 ]; then
        # From the first sign of trouble, or the end where there is none.
        sed -n '/^failures:$/,$p; /^error/,$p' "$log" | tail -n 80 >&2
        [ "$2" -gt 0 ] || give_up "$name: cargo test ended with status $status"
    fi
    count "$name" "$1" "$2" "$3"
}

run_configure() {
    log=build/configure-test.log
    sh tools/test-configure.sh > "$log" 2>&1
    counts=$(tail -n 1 "$log" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
    # shellcheck disable=SC2086
    set -- ${counts:-0 1}
    [ "$2" -eq 0 ] || cat "$log" >&2
    count configure "$1" "$2" 0
}

run_testthat() {
    counts=build/testthat-counts
    rm -f "$counts"
    if ! sh tools/install.sh build/library; then
        give_up "the package does not install"
        return
    fi
    NOT_CRAN=true R_LIBS="$PWD/build/library${R_LIBS:+:$R_LIBS}" \
        Rscript --no-init-file tools/run-tests.R "$counts"
    if [ ! -f "$counts" ]; then
        give_up "testthat did not get to its end"
        return
    fi
    # shellcheck disable=SC2046
    set -- $(cat "$counts")
    count testthat "$1" "$2" "$3"
}

if ! sh tools/setup.sh test; then
    give_up "set-up did not succeed"
    finish
fi
find_rust
mkdir -p build
run_cargo cargo src/rust
run_cargo properties src/rust/properties
run_configure
run_testthat
finish
