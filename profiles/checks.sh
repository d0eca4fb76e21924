#!/bin/sh
# checks.sh — what compute-sanitizer, or the emulator, says of each program in tests/checks, wrong and right.
#
#   profiles/checks.sh sanitizer [DIRECTORY]     needs a GPU and compute-sanitizer; default: build/profiles
#   profiles/checks.sh emulator [DIRECTORY]      needs no GPU; default: profiles/emulated
#
# Writes DIRECTORY/checks.csv: one row for a program, a version and a tool, with the number of errors and of
# warnings and the kinds of findings; see checks.py. `#` lines name GPU, driver, toolkit and date. The first
# needs 2 minutes with the many processors of a server; its copies are in profiles/<gpu>/. PROGRAMS="race-bulk …" leaves
# the others out; merge.py puts such rows into a recording of all.
set -eu
cd "$(dirname "$0")/.."

# One row: checks.sh one sanitizer|emulator TOOL PROGRAM VERSION
if [ "${1:-}" = one ]; then
    tool=$3 program=$4 version=$5 code=0
    log=$(mktemp) && trap 'rm -f "$log"' EXIT
    leaks=
    [ "$tool" != memcheck ] || leaks="--leak-check full"
    if [ "$2" = sanitizer ]; then checker=compute-sanitizer; else checker=build/emu/emu; fi
    # shellcheck disable=SC2086
    timeout 120 $checker --tool "$tool" $leaks --print-limit 1000 "build/checks/$program" "$version" >"$log" 2>&1 || code=$?
    profiles/checks.py "$program" "$version" "$tool" "$code" <"$log"
    exit
fi

which=${1:-}
case $which in
sanitizer)
    out=${2:-build/profiles}
    LD_LIBRARY_PATH=$(common/build/toolkit.sh)/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    about="compute-sanitizer ($(compute-sanitizer --version | sed -n 's/^Version //p')) on the programs of tests/checks."
    ;;
emulator)
    out=${2:-profiles/emulated}
    about="The emulator's checkers on the programs of tests/checks."
    ;;
*) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
make checks >&2
mkdir -p "$out"
{
    echo "# $about"
    if [ "$which" = sanitizer ]; then
        echo "# GPU: $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)"
        echo "# driver: $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)"
    fi
    echo "# toolkit: $("$(common/build/toolkit.sh)/bin/nvcc" --version | sed -n 's/.*release [^,]*, V//p')"
    echo "# date: $(date -u +%Y-%m-%d)"
    echo "program,version,tool,errors,warnings,kinds,exit"
} >"$out/checks.csv"
for program in ${PROGRAMS:-$(basename -s .cu tests/checks/*.cu)}; do
    for version in wrong right; do
        for tool in memcheck racecheck initcheck synccheck; do
            echo "$which $tool $program $version"
        done
    done
done | xargs -P "$(nproc | awk '{ print $1 < 8 ? $1 : 8 }')" -L 1 "$0" one | LC_ALL=C sort >>"$out/checks.csv"
