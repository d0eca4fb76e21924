#!/bin/bash
# compile.sh — measures how long nvcc takes for the kernels of step 16. Nothing else should run.
#
#   profiles/measure/compile.sh [FILE]      default: profiles/compile.csv
#
# The objects are removed and made again by two processes at a time. Writes the elapsed time and the
# processor time of all of them; `#` lines name the processor, the toolkit and the date.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-profiles/compile.csv}
folder=steps/16-operators
objects=$(printf "build/%s.o\n" $folder/*.cu)
times=$(mktemp) && trap 'rm -f "$times"' EXIT

# shellcheck disable=SC2086 # a list of words
rm -f $objects
TIMEFORMAT='%R %U %S'
# shellcheck disable=SC2086
{ time make -j2 $objects >&2; } 2> >(tail -n 1 >"$times")
sync
read -r elapsed user system <"$times"
{
    echo "# How long nvcc takes for the kernels of a step; see profiles/README.md."
    echo "# CPU: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
    echo "# toolkit: $("$(common/build/toolkit.sh)/bin/nvcc" --version |
        sed -n 's/.*release [^,]*, V//p')"
    echo "# date: $(date -u +%Y-%m-%d)"
    echo "step,files,processes,elapsed,processor"
    echo "16,$(echo "$objects" | wc -l),2,$elapsed,$(awk "BEGIN { print $user + $system }")"
} >"$out"
