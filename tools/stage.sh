#!/bin/sh
# Copy what is committed, or would be, to a folder: nothing that a build has
# left behind.
#   stage.sh <folder>

set -e
cd "$(dirname "$0")/.."
mkdir -p "$1"
git ls-files --cached --others --exclude-standard |
    while IFS= read -r file; do
        [ ! -f "$file" ] || printf '%s\n' "$file"
    done |
    tar cf - -T - | (cd "$1" && tar xf -)
