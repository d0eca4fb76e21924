#!/bin/sh
# trace.sh — records every access of a few scans, traced by the emulator, for the figures of the
# notes. Needs no GPU. Run `make` and `make step5-B4` first.
#
#   profiles/measure/trace.sh [DIRECTORY]      default: profiles/emulated
#
# Writes into DIRECTORY, with `#` lines that name toolkit and date:
#   accesses.csv  a row for each access: the elements that its lanes access, and their values
set -eu
cd "$(dirname "$0")/../.."
. profiles/measure/recording.sh
out=${1:-profiles/emulated}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

# run PROGRAM [OPTION …]
run() {
    program=$1
    shift
    "./$program" --device emu --trace "$work/trace" "$@" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
}
# accesses PROGRAM VARIANT N [WARP [LANE]]
accesses() {
    program=$1 variant=$2 n=$3
    shift 3
    numbers "$n" | run "$program" --input - $(choose "$variant")
    number=${program#step}
    profiles/measure/trace.py "${number%%-*}" "$variant" "$n" "$@" <"$work/trace" \
        >>"$work/accesses"
}
# Prints n numbers: the documents' eight numbers and seven others, repeated.
numbers() {
    awk -v n="$1" 'BEGIN {
        split("3 1 7 0 4 1 6 3 2 0 5 1 1 8 2", x)
        for (i = 0; i < n; i++) print x[i % 15 + 1]
    }'
}

accesses step2 - 8
accesses step3 - 8
accesses step5-B4 conflict-free 16
accesses step3 - 512 0
accesses step4 pad16 512 0
accesses step4 pad32 512 0
accesses step6 - 2048 0 1

mkdir -p "$out"
{
    about "Accesses traced by the emulator: elements of arrays A, B, C in memory, words of shared"\
" memory."
    echo step,variant,n,launch,kernel,block,warp,epoch,operation,space,mask,places,values,source
    cat "$work/accesses"
} >"$out/accesses.csv"
