#!/bin/sh
# checks.sh — records the findings of compute-sanitizer or the emulator in each pair of
# tests/checks, in its wrong and its right version.
#
#   profiles/measure/checks.sh sanitizer [DIRECTORY]     needs a GPU and compute-sanitizer;
#                                                        default: build/profiles
#   profiles/measure/checks.sh emulator [DIRECTORY]      needs no GPU; default: profiles/emulated
#
# Writes DIRECTORY/checks.csv: one row per program and version, with the numbers of errors and
# warnings and the kinds of findings of each tool; see checks.py. `#` lines name GPU, driver,
# toolkit and date. With compute-sanitizer, 16 programs run at a time, which takes about 6 minutes
# with 16 processors; recordings of it are in profiles/<gpu>/.
#
# Each run is limited to LIMIT=60 seconds. The wrong versions of deadlock-* never end on a GPU. They
# run last, one at a time, for WAIT=15 seconds each; their rows have "?" errors and exit code 124.
# PROGRAMS="race-bulk …" runs only these programs; merge.py puts such rows into a whole recording.
# LOGS=DIRECTORY keeps the output of the tools, a file per run, from which `checks.py DIRECTORY` can
# make the rows later.
set -eu
cd "$(dirname "$0")/../.."

# One run: checks.sh one sanitizer|emulator TOOL PROGRAM VERSION LIMIT LOGS. Never fails: the last
# line of the log has the exit code.
if [ "${1:-}" = one ]; then
    tool=$3 program=$4 version=$5 code=0
    log=$7/$program.$version.$tool
    set -- "$2" "$6"
    leaks=
    [ "$tool" != memcheck ] || leaks="--leak-check full"
    if [ "$1" = sanitizer ]; then
        run="compute-sanitizer --print-limit 1000" built=build/checks
    else
        run="build/emu/emu --threads 1 --print-limit 1000" built=build/pairs
    fi
    catalogue=$(basename -s .cu "$(grep -l "^/\* $program — " tests/checks/*.cu)")
    # shellcheck disable=SC2086
    timeout -k 5 "$2" $run --tool "$tool" $leaks "$built/$catalogue" "$program" "$version" \
        >"$log" 2>&1 </dev/null || code=$?
    printf '\nexit %d\n' "$code" >>"$log"
    exit 0
fi

. profiles/measure/recording.sh
which=${1:-}
case $which in
sanitizer)
    out=${2:-build/profiles}
    LD_LIBRARY_PATH=$(common/build/toolkit.sh)/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    version=$(compute-sanitizer --version | sed -n 's/^Version //p')
    what="compute-sanitizer ($version) on the programs of tests/checks."
    about=about_gpu
    programs=checks at_once=16
    ;;
emulator)
    out=${2:-profiles/emulated}
    what="The emulator's checkers on the programs of tests/checks."
    about=about
    programs=pairs at_once=$(nproc)
    ;;
*) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
make "$programs" >&2
if [ -z "${LOGS:-}" ]; then LOGS=$(mktemp -d) && trap 'rm -rf "$LOGS"' EXIT; fi
mkdir -p "$out" "$LOGS"

# The runs of all versions that a pattern of grep names, or of all others (-v).
runs() {
    for program in ${PROGRAMS:-$(sed -n 's|^/\* \([a-z-]*\) — .*|\1|p' tests/checks/*.cu)}; do
        for version in wrong right; do
            for tool in memcheck racecheck initcheck synccheck; do
                echo "$which $tool $program $version"
            done
        done
    done | { grep "$@" ' deadlock-[^ ]* wrong$' || true; }
}
run_all() { sed "s|\$| $1 $LOGS|" | xargs -r -P "$at_once" -L 1 "$0" one; }

runs -v | run_all "${LIMIT:-60}"
runs -e | EMU_TIMEOUT=${EMU_TIMEOUT:-3} run_all "${WAIT:-15}"
{
    $about "$what"
    profiles/measure/checks.py "$LOGS"
} >"$out/checks.csv.new"
mv "$out/checks.csv.new" "$out/checks.csv"
echo "$out/checks.csv: $(grep -c '^[a-z].*,[0-9]*$' "$out/checks.csv") rows" >&2
