#!/bin/bash
# compile.sh — measures how long nvcc takes for the kernels of step 16. Nothing else should run.
#
#   profiles/measure/compile.sh [FILE]      default: profiles/compile.csv
#
# The objects are removed and made again by two processes at a time, three times: how fast the
# processor is may change from run to run. Writes the elapsed time and the processor time of all of
# them; `#` lines name the processor, the toolkit and the date.
set -eu
cd "$(dirname "$0")/../.."
. profiles/measure/recording.sh
out=${1:-profiles/compile.csv}
runs=3
objects=build/steps/16-operators
rows=$(mktemp) && trap 'rm -f "$rows"' EXIT

TIMEFORMAT='%R %U %S'
for run in $(seq $runs); do
    rm -f $objects/*.cu.o
    { time make -j2 build/kernels16 >&2; } 2> >(tail -n 1 >"$rows.time")
    sync
    read -r elapsed user system <"$rows.time"
    rm "$rows.time"
    processor=$(awk "BEGIN { print $user + $system }")
    echo "16,$(ls $objects/*.cu.o | wc -l),2,$run,$elapsed,$processor" >>"$rows"
done
{
    about "How long nvcc takes for the kernels of a step; see profiles/README.md." \
        "CPU: $(cpu), $(nproc) cores"
    echo "step,files,processes,run,elapsed,processor"
    cat "$rows"
} >"$out"
