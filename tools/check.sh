#!/bin/sh
# R CMD check of the tarball that `make dist` makes: an error or a warning
# fails; notes are printed, and explained in CONTRIBUTING.md.

set -e
cd "$(dirname "$0")/.."
rm -f kliepnet_*.tar.gz
sh tools/dist.sh
mkdir -p build/check

# The clock and the incoming check ask servers on the network.
status=0
_R_CHECK_SYSTEM_CLOCK_=0 _R_CHECK_CRAN_INCOMING_=FALSE \
    R CMD check --as-cran --no-manual --output=build/check \
    kliepnet_*.tar.gz > build/check.log 2>&1 || status=$?

log=build/check/kliepnet.Rcheck/00check.log
if [ ! -f "$log" ]; then
    cat build/check.log >&2
    exit 1
fi
if [ "$status" -ne 0 ] || grep -qE '(ERROR|WARNING)$' "$log"; then
    cat "$log" >&2
    exit 1
fi
# Each note with its text, up to the next check.
awk '/^\* / { note = /NOTE$/ } note' "$log"
grep '^Status:' "$log"
