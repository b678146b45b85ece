#!/bin/sh
# Install the package into a library of this tree's own, and keep the log to
# ourselves unless it is needed.
#   install.sh <library>

library=$1
log=build/install.log
cd "$(dirname "$0")/.." || exit 1
mkdir -p build "$library"
echo "install: building kliepnet into $library"
R CMD INSTALL --library="$library" . > "$log" 2>&1 && exit 0
tail -n 40 "$log" >&2
echo "install: failed; the whole log is in $log" >&2
exit 1
