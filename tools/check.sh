#!/bin/sh
# R CMD check of the tarball that `make dist` makes: an error or a warning
# fails; notes are printed, and explained in CONTRIBUTING.md.

set -e
cd "$(dirname "$0")/.."
rm -f kliepnet_*.tar.gz
sh tools/dist.sh
mkdir -p build/check

# What CRAN's incoming checks set beyond --as-cran, but for what asks servers
# on the network: the clock, and the half of the incoming check that is remote.
export _R_CHECK_SYSTEM_CLOCK_=0
export _R_CHECK_CRAN_INCOMING_REMOTE_=FALSE
for name in CRAN_INCOMING CONNECTIONS_LEFT_OPEN THINGS_IN_TEMP_DIR \
    THINGS_IN_CHECK_DIR THINGS_IN_OTHER_DIRS SUGGESTS_ONLY ORPHANED \
    BROWSER_NONINTERACTIVE MBCS_CONVERSION_FAILURE S3_REGISTRATION \
    CODOC_VARIABLES_IN_USAGES BASHISMS LIMIT_CORES; do
    export "_R_CHECK_${name}_=TRUE"
done
status=0
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
