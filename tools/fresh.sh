#!/bin/sh
# The two commands on machines that have nothing but Debian, each in a folder
# of its own: `make demo` and `make test`, and what becomes of them without
# root, behind a proxy, and with a read-only home of cargo. Needs root.
# ONLY="12 13 user proxy home" tries a part.

cd "$(dirname "$0")/.." || exit 1
sh tools/setup.sh fresh || exit 1
top=$PWD
folder=$PWD/build/fresh
mkdir -p "$folder"
proved=

fail() {
    echo "fresh: $*" >&2
    exit 1
}

# machine <name> <release>: a new one, with this tree in its home folder; it
# trusts whom this machine trusts.
machine() {
    root=$folder/$1
    archive=$folder/$2.tar
    if [ ! -f "$archive" ]; then
        echo "fresh: fetching Debian $2"
        mmdebstrap --format=tar --variant=apt \
            --include=make,ca-certificates,passwd "$2" "$archive.part" > "$folder/$2.log" 2>&1 || {
            tail -n 5 "$folder/$2.log" >&2
            fail "no Debian $2 is to be had"
        }
        mv "$archive.part" "$archive"
    fi
    rm -rf "$root"
    mkdir -p "$root"
    tar xf "$archive" -C "$root" &&
        cp /etc/resolv.conf "$root/etc/resolv.conf" &&
        cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" &&
        chroot "$root" useradd --create-home someone &&
        sh "$top/tools/stage.sh" "$root/home/someone/kliepnet" &&
        chroot "$root" chown -R someone: /home/someone ||
        fail "no folder with a Debian $2 can be made"
}

# inside <user> <log> <command>: on that machine, in the tree.
inside() {
    log=$folder/$2.log
    unshare --mount --pid --fork sh -c '
        mount -t proc proc "$1/proc"
        mkdir -p "$1/dev/shm"
        mount -t tmpfs tmpfs "$1/dev/shm"
        exec chroot "$1" su "$2" -c "cd ~someone/kliepnet && $3"' \
        sh "$root" "$1" "$3" > "$log" 2>&1
}

# must <user> <log> <command>: what it prints is shown if it fails.
must() {
    inside "$@" && return
    tail -n 40 "$log" >&2
    fail "$3 failed for $1; the whole log is in $log"
}

# What configure said of rustc.
used_rust() {
    sed -n 's/^using rustc: \(rustc [0-9.]*\).*/\1/p' \
        "$root/home/someone/kliepnet/build/install.log"
}

# What `make test` ends with; a make inside of a make has a word after it.
counted() {
    grep '^[0-9]* passed, ' "$log" | tail -n 1
}

# proves <what>
proves() {
    echo "fresh: $*"
    proved="$proved${proved:+; }$*"
}

# Both commands, as root.
two_commands() {
    must root "$1-demo" "make demo"
    must root "$1-test" "make test"
    r=$(chroot "$root" R --version | sed -n '1s/^R version \([0-9.]*\).*/\1/p')
    proves "Debian $1 (R $r, $(used_rust)): make demo, and make test with" \
        "$(counted)"
}

try_12() {
    machine 12 bookworm
    two_commands 12
}

try_13() {
    machine 13 trixie
    two_commands 13
}

# Nothing is there: one sentence. Then what `make demo` needs, and testthat.
try_user() {
    machine user trixie
    ! inside someone user-bare "make demo" || fail "make demo needs nothing"
    [ "$(grep -c "^set-up: install what is missing" "$log")" = 1 ] || {
        cat "$log" >&2
        fail "no sentence says what to install"
    }
    must root user-setup "sh tools/setup.sh run"
    must root user-testthat \
        "apt-get install --yes --no-install-recommends r-cran-testthat r-cran-withr"
    must root user-owner "chown -R someone: ."
    must someone user-demo "make demo"
    must someone user-test "make test"
    proves "an ordinary user is told what to install in one sentence; with" \
        "that, make demo, and make test with $(counted)"
}

# The machine of an ordinary user with Rust and R, and no crates.
prepare() {
    machine "$1" trixie
    must root "$1-setup" "sh tools/setup.sh run"
    must root "$1-owner" "chown -R someone: ."
}

# A proxy on this machine; it must have been asked.
try_proxy() {
    prepare proxy
    port=18080
    cat > "$folder/tinyproxy.conf" << CONFIG
Port $port
Listen 127.0.0.1
Timeout 60
LogFile "$folder/tinyproxy.log"
LogLevel Connect
CONFIG
    : > "$folder/tinyproxy.log"
    chmod 666 "$folder/tinyproxy.log"
    tinyproxy -d -c "$folder/tinyproxy.conf" > /dev/null 2>&1 &
    proxy=$!
    address=http://127.0.0.1:$port
    variables="http_proxy=$address https_proxy=$address"
    inside someone proxy-demo "env $variables make demo"
    status=$?
    kill "$proxy"
    [ "$status" = 0 ] || { tail -n 40 "$log" >&2; fail "not behind a proxy"; }
    asked=$(grep -c "CONNECT" "$folder/tinyproxy.log")
    [ "$asked" -gt 0 ] || fail "the proxy was not asked for crates"
    proves "behind a proxy, which fetched the crates: make demo"
}

# Two kinds: without any crates, and a tarball, which brings its own.
try_home() {
    prepare home
    sh tools/pack.sh "$folder/dist" --no-build-vignettes || exit 1
    cp "$folder"/dist/kliepnet_*.tar.gz "$root/home/someone/kliepnet.tar.gz"
    must root home-make "mkdir -m 555 /crates"
    must someone home-demo "env CARGO_HOME=/crates make demo"
    must someone home-tarball "mkdir ~/library && cd / &&
        env CARGO_HOME=/crates R CMD INSTALL --library=\$HOME/library ~/kliepnet.tar.gz"
    [ -z "$(ls "$root/crates")" ] || fail "something was written to /crates"
    proves "with a read-only home of cargo: make demo, and the tarball installs"
}

[ "$(id -u)" = 0 ] || fail "folders with a Debian of their own need root"
for part in ${ONLY:-12 13 user proxy home}; do
    "try_$part"
    rm -rf "$root"
done
echo "fresh: $proved"
