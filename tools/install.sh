#!/bin/sh
# Install the package into a library of this tree's own, and keep the log to
# ourselves unless it is needed.
#   install.sh <library>

library=$1
log=build/install.log
cd "$(dirname "$0")/.." || exit 1
if ! mkdir -p build "$library" 2> /dev/null || [ ! -w "$library" ]; then
    echo "install: no write access to $library: set R_LIBS to a folder of" \
        "yours that exists, or copy this tree to one, and try again." >&2
    exit 1
fi
echo "install: building kliepnet into $library"
R CMD INSTALL --library="$library" . > "$log" 2>&1 && exit 0
tail -n 40 "$log" >&2
echo "install: failed; the whole log is in $log" >&2
exit 1
