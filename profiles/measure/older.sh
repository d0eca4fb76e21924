#!/bin/sh
# older.sh — counts on emulated GPUs before Hopper what the kernels do that run there, and beside
# them the simpler form of each step. Needs no GPU. Run `make step11 step12 step13 step15 step16`
# first.
#
#   profiles/measure/older.sh [DIRECTORY]      default: profiles/emulated
#
# Writes older.csv: a row for each run, as older.py makes it. With one host thread they repeat.
set -eu
cd "$(dirname "$0")/../.."
. profiles/measure/recording.sh
out=${1:-profiles/emulated}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
metrics=emu__ptx_inst_executed.sum,emu__ptx_inst_executed_class_move.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
export EMU_THREADS=1 EMU_PROGRESS=0

# count GPU STEP N VARIANT OPTION …
count() {
    gpu=$1 step=$2 n=$3 variant=$4
    shift 4
    build/emu/emu --gpu "$gpu" --csv --page source --metrics "$metrics" --log-file "$work/lines" \
        "./step$step" --reps 0 --verify none --n "$n" "$@" >/dev/null
    profiles/measure/older.py "$gpu" "$step" "$variant" "$n" <"$work/lines" >"$work/row"
    append "$work/row" "$work/rows"
}

for gpu in t4 a100 rtx4090; do
    for n in 65536 1048576 8388608 16777216; do
        count $gpu 11 $n -
        for variant in f32 i32; do count $gpu 12 $n $variant --variant $variant; done
    done
    count $gpu 11 16777216 tile8192 --variant tile8192
    count $gpu 11 2097152 -
    count $gpu 16 2097152 sum --op sum
    for n in 65536 1048576 16777216; do
        for variant in document fast; do count $gpu 13 $n $variant --variant $variant; done
    done
    for n in 65536 1048576; do
        for variant in document fast; do count $gpu 15 $n $variant --variant $variant; done
    done
done
{ about "Counters of scans, selections and sorts on emulated GPUs before Hopper." &&
    cat "$work/rows"; } >"$out/older.csv"
