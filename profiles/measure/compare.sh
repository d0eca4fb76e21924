#!/bin/sh
# compare.sh — the counters of two steps side by side, or of all of them: what `make compare` runs.
#
#   [A=3 B=4:pad16] [N=512] [LINES=1] profiles/measure/compare.sh
#
#   A=old.csv B=new.csv [LINES=1] profiles/measure/compare.sh
#
# The emulator counts now; what was recorded on an H200 stands beside it. Without A and B: all steps and variants,
# those of one block (2 to 4) at 512 elements, the others at 65536, or all at N; STEPS="8 9" VARIANTS="naive" choose. Two files are two
# recordings (of `make profileN`, of gpu.sh): nothing is counted now; STEPS, VARIANTS and SIZES choose among their scans.
set -eu
cd "$(dirname "$0")/../.."
. profiles/measure/steps.sh

# Counts STEP[:VARIANT] at N elements, and tells the file.
count() {
    step=${1%%:*} variant=
    [ "$step" = "$1" ] || variant=${1#*:}
    said=$(DEVICE=emu N=$2 VARIANT=$variant profiles/measure/profile.sh "$step") || exit
    echo "${said#profile: }"
}

if [ -n "${A:-}${B:-}" ]; then
    [ -n "${A:-}" ] && [ -n "${B:-}" ] || { echo "compare: it takes two, as in: make compare A=3 B=4" >&2; exit 2; }
    case $A$B in *.csv*)
        for file in "$A" "$B"; do [ -f "$file" ] || { echo "compare: there is no file $file" >&2; exit 2; }; done
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
