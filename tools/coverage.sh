#!/bin/sh
# Which lines the tests reach: a line each for R, for the C file, for the core
# and for the binding, with the files below the goal. Fails below the goal.
# ONLY="core" or ONLY="package" measures one half.

cd "$(dirname "$0")/.." || exit 1
. tools/rust.sh
sh tools/setup.sh coverage || exit 1
find_rust
. tools/llvm.sh
find_llvm || exit 1

top=$PWD/build/coverage
mkdir -p "$top"
rm -rf "$top/core" "$top/package" "$top/source"
mkdir -p "$top/core/counts" "$top/package/counts" "$top/source"
# Instrumented crates stay apart from everybody else's.
export CARGO_TARGET_DIR="$top/target"
# Threads that count the same lines wait for each other at every count.
export RAYON_NUM_THREADS=1

# What ran, and what could have: raw counts and instrumented files in, lcov out.
summarise() {
    part=$1
    shift
    # A process that was killed while it wrote has left no counts.
    "$llvm_bin/llvm-profdata" merge --sparse --failure-mode=all \
        -o "$top/$part/merged" "$top/$part"/counts/ \
        2> "$top/$part/llvm-profdata.log" || return 1
    first=$1
    shift
    objects=
    for file in "$@"; do
        objects="$objects --object $file"
    done
    # shellcheck disable=SC2086
    "$llvm_bin/llvm-cov" export --format=lcov \
        --instr-profile="$top/$part/merged" "$first" $objects \
        > "$top/$part/lines.info" 2> "$top/$part/llvm-cov.log"
}

# The core by its own tests and by the property tests, which need no R.
measure_core() {
    log=$top/core/cargo.log
    for workspace in src/rust src/rust/properties; do
        LLVM_PROFILE_FILE="$top/core/counts/%p.profraw" \
            RUSTFLAGS="-C instrument-coverage" \
            cargo test --locked -j 2 --manifest-path "$workspace/Cargo.toml" \
            -- --test-threads 1 >> "$log" 2>&1 || {
            tail -n 40 "$log" >&2
            return 1
        }
    done
    files=$(sed -n 's/^ *Running .*(\(.*\))$/\1/p' "$log")
    # shellcheck disable=SC2086
    summarise core $files
}

# R and C by covr, and below them the binding, in one run of the test suite
# and the examples. A process that is killed, or that was forked, is not
# counted: what only runs there shows as not covered. The core does not count
# here, where it would make every fit many times slower.
measure_package() {
    sh tools/stage.sh "$top/source" || return 1
    cat > "$top/rustc" << 'WRAPPER'
#!/bin/sh
case " $* " in
*" --crate-name kliepnet "*) exec "$@" -C instrument-coverage ;;
*) exec "$@" ;;
esac
WRAPPER
    chmod +x "$top/rustc"
    LLVM_PROFILE_FILE="$top/package/counts/%p.profraw" NOT_CRAN=true \
        RUSTC_WRAPPER="$top/rustc" \
        Rscript --no-init-file tools/coverage.R measure "$top/source" \
        "$top/package" > "$top/package/covr.log" 2>&1 || {
        tail -n 40 "$top/package/covr.log" >&2
        return 1
    }
    summarise package "$top/package/library/kliepnet/libs/kliepnet.so"
}

parts=${ONLY:-core package}
for part in $parts; do
    "measure_$part" || { echo "coverage: no figures for the $part" >&2; exit 1; }
done
# shellcheck disable=SC2086
exec Rscript --vanilla tools/coverage.R report "$top" $parts
