#!/bin/sh
# trace.sh — records every access of a few scans, traced by the emulator, for the tables of
# conflicts by level and for the figures of README and notes. Needs no GPU. Run `make` and `make
# step5-B4` first.
#
#   profiles/measure/trace.sh [DIRECTORY]      default: profiles/emulated
#
# Writes into DIRECTORY, each with `#` lines that name toolkit and date:
#   levels.csv    a row for each source line and each interval between two barriers: accesses to
#                 shared memory
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
# levels STEP VARIANT N [MODEL]
levels() {
    EMU_MODEL=${4:-hopper} run "step$1" --n "$3" $(choose "$2")
    profiles/measure/trace.py levels "$1" "$2" "$3" "${4:-hopper}" <"$work/trace" >>"$work/levels"
}
# accesses PROGRAM VARIANT N [WARP [LANE]]
accesses() {
    program=$1 variant=$2 n=$3
    shift 3
    numbers "$n" | run "$program" --input - $(choose "$variant")
    number=${program#step}
    profiles/measure/trace.py accesses "${number%%-*}" "$variant" "$n" "$@" <"$work/trace" \
        >>"$work/accesses"
}
# Prints n numbers: the documents' eight numbers and seven others, repeated.
numbers() {
    awk -v n="$1" 'BEGIN {
        split("3 1 7 0 4 1 6 3 2 0 5 1 1 8 2", x)
        for (i = 0; i < n; i++) print x[i % 15 + 1]
    }'
}

levels 2 - 512
levels 3 - 512
levels 3 - 512 g80
levels 3 - 2048
levels 4 pad16 512 g80
for n in 512 2048; do
    for variant in pad16 pad32 pad32x2; do levels 4 $variant $n; done
done
levels 6 - 2048
levels 7 - 2048

accesses step2 - 8
accesses step3 - 8
accesses step5-B4 conflict-free 16
accesses step3 - 512 0
accesses step4 pad16 512 0
accesses step4 pad32 512 0
accesses step6 - 2048 0 1

mkdir -p "$out"
{
    about "Accesses to shared memory between two barriers (epoch: how many came before), traced by"\
" the emulator."
    echo step,variant,n,model,launch,epoch,source,requests_ld,lanes_ld,wavefronts_ld,ideal_ld,\
requests_st,lanes_st,wavefronts_st,ideal_st
    cat "$work/levels"
} >"$out/levels.csv"
{
    about "Accesses traced by the emulator: elements of arrays A, B, C in memory, words of shared"\
" memory."
    echo step,variant,n,launch,kernel,block,warp,epoch,operation,space,mask,places,values,source
    cat "$work/accesses"
} >"$out/accesses.csv"
