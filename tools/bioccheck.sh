#!/bin/sh
# BiocCheck of the tree, without the checks that ask servers on the network.
# What it remarks is printed; CONTRIBUTING.md explains what stays.

set -e
cd "$(dirname "$0")/.."
stage=$PWD/build/bioccheck
rm -rf "$stage"
sh tools/stage.sh "$stage/kliepnet"
# Crates and what is built from them are those of this tree.
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/src/rust/target}
BIOCONDUCTOR_ONLINE_VERSION_DIAGNOSIS=FALSE
export CARGO_TARGET_DIR BIOCONDUCTOR_ONLINE_VERSION_DIAGNOSIS

cd "$stage"
Rscript --no-init-file -e 'BiocCheck::BiocCheck(
    "kliepnet", `no-check-deprecated` = TRUE, `no-check-CRAN` = TRUE,
    `no-check-version-num` = TRUE, `no-check-R-ver` = TRUE,
    `no-check-remotes` = TRUE, `no-check-bioc-help` = TRUE)' \
    > ../bioccheck.log 2>&1 || { cat ../bioccheck.log >&2; exit 1; }
awk '/^\* / { heading = $0; next }
     /^ *\* (ERROR|WARNING|NOTE)/ { if (heading != "") print heading
                                    heading = ""; shown = 1 }
     /^[^ ]/ { shown = 0 }
     shown' ../bioccheck.log
