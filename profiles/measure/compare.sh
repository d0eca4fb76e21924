#!/bin/sh
# compare.sh — the counters of two steps side by side, or of all of them: what `make compare` runs.
#
#   [A=3 B=4:pad16] [N=512] [LINES=1] profiles/measure/compare.sh
#
#   A=old.csv B=new.csv [LINES=1] profiles/measure/compare.sh
#
# The first form counts on the emulator and shows the numbers recorded on an H200 beside them.
# Without A and B it takes all steps and variants, with 512 elements for steps of one block (2 to 4)
# and 65536 for the others, or N elements for all; STEPS="8 9" and VARIANTS="naive" choose some of
# them. The second form compares two recordings (of `make profileN` or gpu.sh) and counts nothing;
# STEPS, VARIANTS and SIZES choose among their scans.
set -eu
cd "$(dirname "$0")/../.."
. profiles/measure/steps.sh

# Counts STEP[:VARIANT] at N elements, and prints the name of the file.
count() {
    step=${1%%:*} variant=
    [ "$step" = "$1" ] || variant=${1#*:}
    said=$(DEVICE=emu N=$2 VARIANT=$variant profiles/measure/profile.sh "$step") || exit
    echo "${said#profile: }"
}

if [ -n "${A:-}${B:-}" ]; then
    [ -n "${A:-}" ] && [ -n "${B:-}" ] ||
        { echo "compare: it takes two, as in: make compare A=3 B=4" >&2; exit 2; }
    case $A$B in *.csv*)
        for file in "$A" "$B"; do
            [ -f "$file" ] || { echo "compare: there is no file $file" >&2; exit 2; }
        done
        export STEPS="${STEPS:-}" VARIANTS="${VARIANTS:-}" SIZES="${SIZES:-${N:-}}"
        exec profiles/measure/compare.py --recordings ${LINES:+--lines} "$A" "$B" ;;
    esac
    a=$(count "$A" "${N:-512}")
    b=$(count "$B" "${N:-512}")
    profiles/measure/compare.py ${LINES:+--lines} "$a" "$b"
else
    files=
    for number in $(steps 2); do
        n=65536
        [ -z "$(limit "$number")" ] || n=512
        for variant in $(variants "$number"); do
            scan=$number
            [ "$variant" = - ] || scan=$number:$variant
            files="$files $(count "$scan" "${N:-$n}")"
        done
    done
    # shellcheck disable=SC2086
    profiles/measure/compare.py --all $files
fi
