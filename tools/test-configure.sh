#!/bin/sh
# What configure and the other scripts say and write, with every kind of Rust
# they may meet, and where something else is missing. The Rust is made up: a
# folder with a `cargo` and a `rustc` that only tell their version. Last line:
# "N passed, N failed".

top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# The commands configure may use, and no Rust that this machine may have.
mkdir "$work/bin"
for name in sh sed awk dirname uname cat mkdir grep rm tr tail touch; do
    ln -s "$(command -v "$name")" "$work/bin/$name"
done

# fake_rust <folder> <version>: no version makes commands that do not run, as
# rustup's are before a toolchain is installed.
fake_rust() {
    mkdir -p "$1"
    for name in cargo rustc; do
        if [ -n "$2" ]; then
            printf '#!/bin/sh\necho "%s %s (made up)"\n' "$name" "$2"
        else
            printf '#!/bin/sh\nexit 1\n'
        fi > "$1/$name"
        chmod +x "$1/$name"
    done
}

# fake_command <name> [line...]: a command that runs these lines.
fake_command() {
    name=$1
    shift
    mkdir -p "$work/rust"
    { echo '#!/bin/sh'; printf '%s\n' "$@"; } > "$work/rust/$name"
    chmod +x "$work/rust/$name"
}

# A package with nothing but its configure, and an empty home.
fresh() {
    rm -rf "$work/package" "$work/home" "$work/rust"
    mkdir -p "$work/package/src/rust" "$work/package/tools" "$work/home"
    cp "$top/configure" "$top/configure.win" "$top/DESCRIPTION" \
        "$work/package"
    cp "$top/tools/rust.sh" "$top/tools/cargo-build.sh" \
        "$top/tools/setup.sh" "$top/tools/install.sh" "$work/package/tools"
    cp "$top/src/Makevars.in" "$work/package/src"
}

# run_in <folder> [NAME=value...] <command...>: sets status, and said to all
# it printed.
run_in() {
    folder=$1
    shift
    said=$(cd "$folder" && env -i HOME="$work/home" \
        PATH="$work/rust:$work/bin" "$@" 2>&1)
    status=$?
}

run_configure() {
    run_in "$work/package" "$@" "$work/bin/sh" ./configure
}

# A folder that nobody can make, not even root.
impossible=$work/file/folder
touch "$work/file"

# expect <what should be true> <command...>
expect() {
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        echo "  status $status, said: $said"
    fi
}

says() { printf '%s\n' "$said" | grep -q -e "$1"; }
succeeds() { [ "$status" -eq 0 ]; }
fails() { [ "$status" -ne 0 ] && [ ! -f "$work/package/src/Makevars" ]; }
one_line() { [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ]; }
writes() { grep -q -e "$1" "$work/package/src/Makevars"; }
lacks() { ! writes "$1"; }
filled_in() { ! grep -q '@' "$work/package/src/Makevars"; }

minimum=$(sed -n 's/.*rustc >= \([0-9.]*\).*/\1/p' "$top/DESCRIPTION")

fresh
run_configure
expect "no Rust: configure fails" fails
expect "no Rust: it says what to install" says "install Rust $minimum or newer"
expect "no Rust: in one sentence" one_line

fresh
fake_rust "$work/rust" ""
run_configure
expect "a rustup without a toolchain counts as no Rust" fails
expect "a rustup without a toolchain: says what to install" \
    says "install Rust $minimum or newer"

fresh
fake_rust "$work/rust" 1.63.0
run_configure
expect "too old: configure fails" fails
expect "too old: it says what is needed" says "needs rustc $minimum or newer"
expect "too old: it says what was found, and where" \
    says "found 1.63.0 ($work/rust/rustc)"
expect "too old: in one sentence" one_line

fresh
fake_rust "$work/rust" 1.9.0
run_configure
expect "versions are compared as numbers, not as text" fails

fresh
fake_rust "$work/rust" "$minimum"
run_configure
expect "the minimum itself will do" succeeds
expect "both versions are printed: cargo" says "cargo $minimum (made up)"
expect "both versions are printed: rustc" says "rustc $minimum (made up)"
expect "crates are fetched without an archive" says "fetched by cargo"
expect "Makevars has no gaps left" filled_in
expect "Makevars names the target folder" writes "rust/target/release/libkliepnet.a"

fresh
fake_rust "$work/rust" 1.100.0-nightly
run_configure
expect "a later version of a nightly will do" succeeds
expect "a rustc that knows AVX-512 builds with it" writes "--features avx512"

fresh
fake_rust "$work/rust" 1.88.0
run_configure
expect "one that does not builds without" lacks "avx512"
expect "and says what would change that" says "1.89 or newer adds AVX-512"

fresh
fake_rust "$work/home/.cargo/bin" 2.0.0
run_configure
expect "Rust is found where rustup installs it" succeeds
expect "and built with from there" writes "$work/home/.cargo/bin"

fresh
fake_rust "$work/rust" 1.63.0
fake_rust "$work/home/.cargo/bin" 2.0.0
run_configure
expect "an old Rust on the PATH does not hide a new one" says "rustc 2.0.0"

fresh
fake_rust "$work/home/cargo/bin" 2.0.0
run_configure CARGO_HOME="$work/home/cargo"
expect "Rust is found in CARGO_HOME" succeeds

fresh
touch "$work/package/src/rust/vendor.tar.xz"
fake_rust "$work/rust" 2.0.0
run_configure
expect "an archive of crates without xz: configure fails" fails
expect "an archive of crates without xz: says what to install" \
    says "needs xz to unpack its crates: install it"
fake_command xz
run_configure
expect "an archive of crates is used, offline" says "vendored ones, offline"

fresh
fake_rust "$work/rust" 2.0.0
run_configure CARGO_TARGET_DIR="$work/elsewhere"
expect "a target folder of the user's is used" \
    writes "= $work/elsewhere/release/libkliepnet.a"

fresh
fake_rust "$work/rust" 2.0.0
run_configure CARGO_TARGET_DIR="$impossible"
expect "a target folder that cannot be written: configure fails" fails
expect "a target folder that cannot be written: says what to set" \
    says "no write access to $impossible.*set CARGO_TARGET_DIR"

fresh
fake_rust "$work/rust" 2.0.0
run_configure CARGO_TARGET_DIR=here
expect "a relative one is taken from the package's folder" \
    writes "= $work/package/here/release/libkliepnet.a"

stated_in_cargo() {
    case $minimum in
    "$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$top/src/rust/Cargo.toml")"*) ;;
    *) return 1 ;;
    esac
}
expect "Cargo.toml states the same minimum" stated_in_cargo

# ---- other machines --------------------------------------------------------

# A rustc for one host, with the libraries of these targets.
targeted_rust() {
    fake_command cargo 'echo "cargo 2.0.0"'
    fake_command rustc 'case "$*" in' "-vV) echo 'host: $1' ;;" \
        "*sysroot) echo '$work/home/sysroot' ;;" \
        "*native*) echo 'note: native-static-libs: -lmade -lup' ;;" \
        '*) echo "rustc 2.0.0" ;;' esac
    shift
    for name in "$@"; do
        mkdir -p "$work/home/sysroot/lib/rustlib/$name"
    done
}

# An R for this processor.
targeted_r() {
    fake_command Rscript "printf $1"
}

run_configure_win() {
    run_in "$work/package" "$@" "$work/bin/sh" ./configure.win
}

windows_writes() { grep -q -e "$1" "$work/package/src/Makevars.win"; }

fresh
targeted_rust x86_64-pc-windows-msvc
run_configure_win
expect "Windows without the target of R: configure fails" fails
expect "Windows without the target of R: says what to type" \
    says "rustup target add x86_64-pc-windows-gnu"

fresh
targeted_rust x86_64-pc-windows-msvc x86_64-pc-windows-gnu
targeted_r x86_64
run_configure_win
expect "Windows: configure succeeds" succeeds
expect "Windows: the library is that of R's target" windows_writes \
    "= rust/target/x86_64-pc-windows-gnu/release/libkliepnet.a"
expect "Windows: cargo is told the target" windows_writes \
    'cargo-build.sh .*"x86_64-pc-windows-gnu"'
expect "Windows: the system's libraries are those that rustc names" \
    windows_writes "^PKG_LIBS = .* -lmade -lup$"
expect "Windows: no file for other systems" [ ! -f "$work/package/src/Makevars" ]

fresh
targeted_rust aarch64-pc-windows-msvc aarch64-pc-windows-gnullvm
targeted_r aarch64
run_configure_win
expect "Windows on ARM has a target of its own" windows_writes \
    "/aarch64-pc-windows-gnullvm/release/"

fresh
targeted_rust x86_64-made-up wasm32-unknown-emscripten
run_configure CARGO_BUILD_TARGET=wasm32-unknown-emscripten
expect "a target of the user's is built for" writes \
    "= rust/target/wasm32-unknown-emscripten/release/libkliepnet.a"

fresh
fake_command uname 'echo Darwin'
targeted_rust aarch64-apple-darwin x86_64-apple-darwin
targeted_r aarch64
run_configure
expect "macOS: R and Rust of one kind need no target" writes \
    "= rust/target/release/libkliepnet.a"
expect "macOS: its own link flags" writes "dead_strip"
targeted_r x86_64
run_configure
expect "macOS: an R for Intel gets a library for Intel" writes \
    "= rust/target/x86_64-apple-darwin/release/libkliepnet.a"

# ---- the build -------------------------------------------------------------

# A cargo whose build fails, and whose fetch says whether it has the crates.
run_build() {
    fresh
    fake_command rustc 'echo "host: made-up"'
    fake_command cargo "[ \"\$1\" = fetch ] && exit $1" \
        'echo "error: from cargo"; exit 101'
    shift
    run_in "$work/package/src" "$@" "$work/bin/sh" ../tools/cargo-build.sh \
        "" rust/target ""
}

breaks() { [ "$status" -ne 0 ]; }
is_silent_on() { ! says "$1"; }

run_build 1
expect "no crates: the build fails" breaks
expect "no crates: it says how to do without a network" \
    says "could not fetch the crates .*install the tarball"

run_build 1 CARGO_HOME="$impossible"
expect "no write access to cargo's home: crates are kept here" \
    says "using crates: in .*rust/cargo-home, as $impossible cannot be written"

run_build 0
expect "any other failure is left to cargo" says "error: from cargo"
expect "and not explained away" is_silent_on "^kliepnet:"

# A cargo that says what it was asked for, with a C compiler that has all of
# libgcc in one library.
run_build_for() {
    fresh
    fake_command cargo 'echo "cargo $*"; echo "libraries: $LIBRARY_PATH"'
    fake_command gcc 'echo "${1#*=}"'
    run_in "$work/package/src" CC="gcc -std=gnu11" \
        "$work/bin/sh" ../tools/cargo-build.sh "" rust/target "$@"
}
empty_library=rust/target/empty/libgcc_eh.a

run_build_for "" --features avx512
expect "a build runs two jobs at most" says "^cargo build .* -j 2 "
expect "it takes what configure has chosen" says " --features avx512"
expect "it needs no library of Windows" \
    [ ! -f "$work/package/src/$empty_library" ]

run_build_for x86_64-pc-windows-gnu
expect "Windows: the target is cargo's too" \
    says "^cargo build .* --target x86_64-pc-windows-gnu "
expect "Windows: an empty library stands in for one that Rtools has not" \
    [ -f "$work/package/src/$empty_library" ]
expect "Windows: it is found" \
    says "^libraries: $work/package/src/rust/target/empty$"

# ---- make ------------------------------------------------------------------

# run_setup <missing R packages> [NAME=value...]: neither root nor apt, unless
# `user` is 0.
user=1000
run_setup() {
    for name in R cc make xz; do
        [ "$name" = "$absent" ] || fake_command "$name"
    done
    fake_command id "echo $user"
    fake_command Rscript "printf '%s' '$1'"
    shift
    run_in "$work/package" "$@" "$work/bin/sh" tools/setup.sh run
}

absent=
fresh
fake_rust "$work/rust" 2.0.0
run_setup ""
expect "nothing missing: set-up succeeds" succeeds
expect "nothing missing: and is silent" [ -z "$said" ]

fresh
run_setup ""
expect "make without Rust: fails" breaks
expect "make without Rust: says what to install" \
    says "install Rust $minimum or newer"
expect "make without Rust: in one line" one_line

fresh
fake_rust "$work/rust" 2.0.0
run_setup "ggplot2 Matrix"
expect "make without R packages: fails" breaks
expect "make without R packages: says what to type" \
    says 'BiocManager::install(c("ggplot2", "Matrix"))'
expect "make without R packages: in one line" one_line

absent=xz
fresh
fake_rust "$work/rust" 2.0.0
run_setup "ggplot2"
expect "make without several things: names them" \
    says "missing, and try again: xz; R packages.*ggplot2"
expect "make without several things: in one line" one_line

# An apt whose lock another one holds for the first two calls, and which then
# installs what was asked for.
absent=xz
user=0
fresh
fake_rust "$work/rust" 2.0.0
fake_command sleep
fake_command apt-get \
    "echo >> '$work/home/calls'" \
    "if [ \"\$(grep -c '' '$work/home/calls')\" -le 2 ]; then" \
    "    echo 'E: Could not get lock /var/lib/apt/lists/lock.'; exit 100" \
    "fi" \
    "case \"\$*\" in *install*) printf '#!/bin/sh\\n' > '$work/rust/xz';" \
    "    chmod +x '$work/rust/xz' ;; esac"
ln -sf "$(command -v chmod)" "$work/bin/chmod"
run_setup ""
expect "apt is busy: set-up waits, and succeeds" succeeds
expect "apt is busy: it says so, once" \
    [ "$(printf '%s\n' "$said" | grep -c 'another apt is at work')" = 1 ]

fresh
fake_rust "$work/rust" 2.0.0
fake_command sleep
fake_command apt-get "echo 'E: Could not get lock'; exit 100"
run_setup ""
expect "apt stays busy: set-up gives up in the end" breaks
expect "apt stays busy: it says why" says "has held its lock"

fresh
fake_rust "$work/rust" 2.0.0
fake_command apt-get "echo 'E: no such package'; exit 100"
run_setup ""
expect "apt fails for another reason: no waiting" breaks
expect "apt fails for another reason: its words are shown" \
    says "E: no such package"

user=1000
absent=
fresh
fake_rust "$work/rust" 2.0.0
touch "$work/package/build"
run_setup ""
expect "make in a tree that cannot be written: fails" breaks
expect "make in a tree that cannot be written: says what to do" \
    says "no write access to $work/package: copy this tree"
expect "make in a tree that cannot be written: in one line" one_line

fresh
run_in "$work/package" "$work/bin/sh" tools/install.sh "$impossible"
expect "a library that cannot be written: fails" breaks
expect "a library that cannot be written: says what to set" \
    says "no write access to $impossible: set R_LIBS"
expect "a library that cannot be written: in one line" one_line

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
