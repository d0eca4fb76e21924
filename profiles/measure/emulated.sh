#!/bin/sh
# emulated.sh — records the emulator's counters that the tables of README and notes show. Needs no
# GPU. Run `make tests-build` first.
#
#   profiles/measure/emulated.sh [DIRECTORY]      default: profiles/emulated
#
# Writes into DIRECTORY, each with `#` lines that name toolkit and date:
#   counters.csv      one row per scan; the columns are the keys of --csv, see
#                     common/harness/report/report.h
#   experiments.csv   output of step 14's experiment
#   instructions.csv  PTX instructions of warps, one row a launch; columns as in h200/counters.csv
#   accesses.csv      what trace.sh makes of traces
#   older.csv         what older.sh counts on GPUs before Hopper
# The same kernels give the same counters on any machine, so `git diff` shows the effect of a
# change.
set -eu
cd "$(dirname "$0")/../.."
. profiles/measure/recording.sh
out=${1:-profiles/emulated}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mi=1048576

# scan STEP N [OPTION …]
scan() {
    number=$1 n=$2
    shift 2
    row "$number" --n "$n" "$@"
}
# row STEP OPTION …
row() {
    number=$1
    shift
    "./step$number" --device emu --reps 0 --csv "$@" >"$work/row"
    append "$work/row" "$work/rows"
}

scan 0 $mi
scan 2 512
scan 3 512
for n in 512 2048; do
    for variant in pad16 pad32 pad32x2; do scan 4 $n --variant $variant; done
done
for variant in naive work-efficient conflict-free conflict-free-remainder; do
    scan 5 $mi --variant $variant
done
scan 5 1000 --variant conflict-free
scan 5 1000 --variant conflict-free-remainder
for number in 5 6 7 8 9; do scan $number 65536; done
scan 6 $mi
scan 6 $mi --offset 1
scan 7 $mi
for variant in hybrid tree naive; do scan 8 $mi --variant $variant; done
for variant in shfl predicate; do scan 9 $mi --variant $variant; done

# The number of polls in step 10's barrier, and of states that step 11 looks back, vary from run to
# run. With one host thread they are always the same, and in step 11 every tile finds the prefix
# before it.
export EMU_THREADS=1
for n in 65536 $mi; do scan 10 $n; done
scan 11 65536
scan 12 65536 --variant f32
scan 12 $mi --variant f32
for variant in tile2048 tile4096 tile8192; do scan 11 $mi --variant $variant; done

row 14 --size 1000x1000
row 14 --size 1001x1000
row 14 --size 200x100 --real
scan 15 131072
build/experiments/14-against-npp --device emu --csv >"$work/values"
profiles/measure/cases.py <"$work/values" >"$work/experiments"

echo emu__ptx_inst_executed.sum >"$work/metrics"
for scan in 6:- 7:- 9:shfl 9:predicate; do
    number=${scan%:*} variant=${scan#*:}
    # shellcheck disable=SC2046
    build/emu/emu --csv --metrics emu__ptx_inst_executed.sum --log-file "$work/log" \
        "./step$number" --reps 0 --n $mi $(choose "$variant") >/dev/null
    profiles/measure/ncu_long.py $number "$variant" $mi "$work/metrics" <"$work/log" >"$work/row"
    append "$work/row" "$work/launches"
done
profiles/measure/cases.py <"$work/launches" >"$work/instructions"

mkdir -p "$out"
{ about "Counters of one scan, or of one copy, under the emulator." &&
    cat "$work/rows"; } >"$out/counters.csv"
{ about "Experiments under the emulator." && cat "$work/experiments"; } >"$out/experiments.csv"
{ about "PTX instructions of warps, launch by launch." && cat "$work/instructions"; } \
    >"$out/instructions.csv"

profiles/measure/trace.sh "$out"
profiles/measure/older.sh "$out"
