#!/bin/bash
# library.sh — measures how large libupsweep for all GPUs is, and how long nvcc takes for it.
#
#   profiles/measure/library.sh [FILE]      default: profiles/library.csv
#
# Builds it anew with JOBS processes, 2 by default; nothing else should run. With KEEP=1 it takes
# what is built, and leaves the times empty. `gpus` are those with machine code. Sizes are in bytes,
# times in seconds.
set -eu
cd "$(dirname "$0")/../.."
. profiles/measure/recording.sh
out=${1:-profiles/library.csv}
built=build/library/gpus
times=$(mktemp) && trap 'rm -f "$times"' EXIT

[ -n "${KEEP:-}" ] || rm -rf $built
TIMEFORMAT='%R %U %S'
{ time make -j"${JOBS:-2}" library ALL_GPUS=1 >&2; } 2> >(tail -n 1 >"$times")
sync
read -r elapsed user system <"$times"
processor=$(awk "BEGIN { print $user + $system }")
[ -z "${KEEP:-}" ] || elapsed='' processor=''
gpus=$(make -n library ALL_GPUS=1 -W steps/12-pipeline/scan.cu V=1 | grep -o 'code=sm_[0-9]*' |
    sort -u -V | sed 's/code=sm_//' | paste -sd ' ')
{
    about "How large libupsweep for all GPUs is; see profiles/README.md." \
        "CPU: $(cpu), $(nproc) cores"
    echo "gpus,files,shared,static,elapsed,processor"
    echo "$gpus,$(find $built -name '*.cu.o' | wc -l),$(stat -c %s $built/libupsweep.so.*.*)," \
        "$(stat -c %s $built/libupsweep.a),$elapsed,$processor" | tr -s ' ' | sed 's/, /,/g'
} >"$out"
