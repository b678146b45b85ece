#!/bin/sh
# The package for Windows, as far as it can be proved without R for Windows:
# the core's tests under wine, and the package's DLL, made by configure.win and
# R's own rules for Windows, and linked with an import library of the names of
# R's API that it uses.

cd "$(dirname "$0")/.." || exit 1
. tools/rust.sh
sh tools/setup.sh windows || exit 1
find_rust
top=$PWD
target=x86_64-pc-windows-gnu
tool=x86_64-w64-mingw32
folder=$PWD/build/windows
rm -rf "$folder/package" "$folder/dll"
mkdir -p "$folder/dll"
wine=$(command -v wine64 || command -v wine || echo /usr/lib/wine/wine64)
export WINEPREFIX="$folder/wine" WINEDEBUG=-all
unset CARGO_BUILD_TARGET DISPLAY

fail() {
    echo "windows: $*" >&2
    exit 1
}

# run <log> <command...>: what it prints is shown if it fails.
run() {
    log=$folder/$1.log
    shift
    "$@" > "$log" 2>&1 || { tail -n 40 "$log" >&2; return 1; }
}

# ---- the core's tests ------------------------------------------------------

run wine "$wine" wineboot --init || fail "wine does not start"
system="$WINEPREFIX/drive_c/windows/system32"
[ -f "$system/bcryptprimitives.dll" ] ||
    "$tool-gcc" -shared -DRANDOM -o "$system/bcryptprimitives.dll" \
        tools/windows.c -ladvapi32 -static-libgcc || exit 1
export CARGO_TARGET_DIR="$folder/target"
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$tool-gcc
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="$wine"
# shellcheck disable=SC2046
run test cargo test --locked -j 2 --no-fail-fast $(rust_features) \
    --target "$target" --manifest-path src/rust/Cargo.toml ||
    fail "the core's tests fail under wine"
tests=$(awk '/^test result:/ { passed += $4 } END { print passed + 0 }' \
    "$folder/test.log")
[ "$tests" -gt 0 ] || fail "no test of the core ran"
echo "windows: $tests tests of the core pass under wine"

# ---- the DLL ---------------------------------------------------------------

# A name with a space and letters beyond ASCII, as a user's folder may have.
package="$folder/package/Übung 1"
sh tools/stage.sh "$package" || exit 1
cd "$package" || exit 1
unset CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER
run configure sh ./configure.win || fail "configure.win fails"

# What R for Windows has in its Makeconf, with a compiler that runs here.
r_folder() {
    Rscript --vanilla -e "cat(R.home('$1'))"
}
cat > "$folder/Makeconf" << MAKECONF
CC = $tool-gcc
CFLAGS = -O2 -Wall -std=gnu11 -mfpmath=sse -msse2
NM = $tool-nm
SHLIB_LD = \$(CC)
SHLIB_LDFLAGS = -shared
DLLFLAGS = -s -static-libgcc
ALL_LIBS = \$(PKG_LIBS) -L$folder/dll -lR
.c.o:
	\$(CC) -I$(r_folder include) -DNDEBUG \$(CFLAGS) \$(PKG_CFLAGS) -c \$< -o \$@
MAKECONF
make_dll() {
    (cd src && make -f Makevars.win -f "$folder/Makeconf" \
        -f "$(r_folder share)/make/winshlib.mk" \
        SHLIB=kliepnet.dll OBJECTS=entrypoint.o "$@")
}
archive=$(sed -n 's/^RUST_LIBRARY = //p' src/Makevars.win)
run crates make_dll "$archive" entrypoint.o || fail "the crates do not build"

# Of the names that object files leave open, those that R has: functions, and
# variables, which an import library marks.
cd "$folder/dll" || exit 1
for object in "$package/src/entrypoint.o" "$archive"; do
    "$tool-nm" --undefined-only "$object" 2> /dev/null
done | awk 'NF == 2 { print $2 }' | sort -u > open
r_library=$(r_folder lib)/libR.so
[ -f "$r_library" ] || r_library=$(r_folder bin)/exec/R
nm -D --defined-only "$r_library" | awk '{ print $3, $2 }' | sort > offered
join open offered > used
{
    echo "LIBRARY R.dll"
    echo "EXPORTS"
    awk '{ print "   ", $1 ($2 ~ /^[TtWi]$/ ? "" : " DATA") }' used
} > R.def
"$tool-dlltool" --input-def R.def --output-lib libR.dll.a ||
    fail "no import library can be made of R's names"

(cd "$package" && run link make_dll all) ||
    fail "the DLL does not link: what is named above is not in R"
cp "$package/src/kliepnet.dll" .

# ---- what it exports and imports -------------------------------------------

"$tool-objdump" -p kliepnet.dll > headers
exports=$(awk '/Ordinal\/Name Pointer/ { inside = 1; next }
               inside && !NF { exit } inside { print $NF }' headers)
[ "$exports" = R_init_kliepnet ] ||
    fail "the DLL exports $exports instead of R_init_kliepnet"
awk '/DLL Name:/ { dll = $3 }
     dll != "" && /^\t[0-9a-f]+\t/ { print dll, $3 }' headers > imports
awk '$1 == "R.dll" { print $2 }' imports | sort -u > imported
unknown=$(awk '{ print $1 }' used | sort | comm -13 - imported)
[ -z "$unknown" ] || fail "R has no $unknown"
[ -s imported ] || fail "the DLL imports nothing from R"
echo "windows: the DLL imports from R.dll, each found in R's own library:"
fmt -w 72 imported | sed 's/^/    /'
echo "windows: and from the system:" \
    "$(awk '$1 != "R.dll" { print $1 }' imports | sort -uf | paste -s -d ' ')"

# ---- and whether it loads --------------------------------------------------

{
    while read -r name kind; do
        case $name:$kind in
        R_registerRoutines:*) ;;
        *:[TtWi]) echo "__declspec(dllexport) void *$name(void) { return 0; }" ;;
        *) echo "__declspec(dllexport) void *$name;" ;;
        esac
    done < used
} > names.c
include="-I$(r_folder include)"
"$tool-gcc" -shared -DSTAND_IN "$include" -o R.dll names.c \
    "$top/tools/windows.c" -static-libgcc &&
    "$tool-gcc" "$include" -o load.exe "$top/tools/windows.c" ||
    fail "no stand-in for R.dll can be built"
run load "$wine" load.exe kliepnet.dll || fail "wine does not load the DLL"
tr -d '\r' < "$folder/load.log" | sort -u > registered
grep -rhow 'wrap__[a-z0-9_]*' "$package/R" | sort -u > called
unregistered=$(comm -13 registered called)
[ -z "$unregistered" ] || fail "no routine is registered as $unregistered"

echo "windows: $tests tests of the core pass under wine; the DLL resolves all" \
    "of its $(grep -c '' imported) names of R, exports R_init_kliepnet alone," \
    "and registers all $(grep -c '' called) routines that R code calls;" \
    "R for Windows itself is untried"
