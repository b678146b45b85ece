#!/bin/sh
# The oldest rustc that DESCRIPTION allows: the core's tests with it, and the
# package installed from a tarball, without a network where that can be taken
# away, and used.

cd "$(dirname "$0")/.." || exit 1
. tools/rust.sh
sh tools/setup.sh msrv || exit 1
minimum=$(rust_minimum)
folder=$PWD/build/msrv
rm -rf "$folder/library"
mkdir -p "$folder/library"

fail() {
    echo "msrv: $*" >&2
    exit 1
}

# run <log> <command...>: what it prints is shown if it fails.
run() {
    log=$folder/$1.log
    shift
    "$@" > "$log" 2>&1 || { tail -n 40 "$log" >&2; return 1; }
}

# With a newer one, as releases are.
sh tools/pack.sh "$folder/dist" --no-build-vignettes || exit 1

PATH=$(dirname "$(rustup which --toolchain "$minimum" cargo)"):$PATH
export PATH
unset RUSTUP_TOOLCHAIN CARGO_TARGET_DIR
find_rust
[ "$rustc_version" = "$minimum" ] ||
    fail "the rustc on the PATH is $rustc_version, not $minimum"

# shellcheck disable=SC2046
run test cargo test --locked -j 2 --no-fail-fast $(rust_features) \
    --manifest-path src/rust/Cargo.toml --target-dir "$folder/target" ||
    fail "the core's tests fail with rustc $minimum"
tests=$(awk '/^test result:/ { passed += $4 } END { print passed + 0 }' \
    "$folder/test.log")
[ "$tests" -gt 0 ] || fail "no test of the core ran"
run build cargo build --locked -j 2 --manifest-path src/rust/Cargo.toml \
    --workspace --target-dir "$folder/target" ||
    fail "the crates do not build with rustc $minimum"

network="with a network"
offline=
if unshare --net true 2> /dev/null; then
    network="without a network"
    offline="unshare --net"
fi
# shellcheck disable=SC2086
run install $offline R CMD INSTALL --library="$folder/library" \
    "$folder"/dist/kliepnet_*.tar.gz ||
    fail "the tarball does not install with rustc $minimum"
grep -q "using rustc: rustc $minimum" "$folder/install.log" ||
    fail "the tarball was installed with another rustc"
R_LIBS="$folder/library${R_LIBS:+:$R_LIBS}"
export R_LIBS
demo=$PWD/inst/examples/demo.R
cd "$folder" || exit 1
run demo Rscript "$demo" || fail "the installed package fails"

echo "msrv: with rustc $minimum both crates build, $tests tests of the core" \
    "pass, and the tarball installs $network and finds the changes of the demo"
