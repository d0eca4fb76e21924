#!/bin/sh
# speed.sh — measures how fast the emulator is; `make bench-emu` builds what it needs and calls it.
#
#   profiles/measure/speed.sh [FILE]      default: profiles/emulated/speed.csv
#
# Writes a table for each group of cases; `#` lines name the processor, its cores, the compiler and
# the date. Rates and start-up times are processor time, medians of 7 runs, so a busy machine
# changes them little. Elapsed times are the shortest of 7 runs, or that of one run. The shares of
# the emulator's parts need perf and are left out without it.
set -eu
cd "$(dirname "$0")/../.."
. profiles/measure/recording.sh
out=${1:-profiles/emulated/speed.csv}
bench=build/tests/bench/run
cores=$(nproc)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export EMU_THREADS=1 LD_LIBRARY_PATH=build/emu

say() { echo "  $1" >&2; }

# Finds the part of the emulator of each of perf's samples, by the name of the function.
shares() {
    perf record -q -e cpu-clock -F 2000 -o "$work/perf" "$bench" "$1" scans >/dev/null
    perf report -i "$work/perf" --no-children --stdio -F overhead,dso,sym 2>/dev/null |
        grep -v '^#' |
        awk -v mode="$1" -v name="$BENCH_ONLY" '
            NF < 4 { next }
            { name_of = $4; share = $1 + 0 }
            $2 !~ /libcudart/ { part["host"] += share; next }
            name_of ~ /^(count_|wavefronts|take_units|distinct|lanes_pair)/ {
                part["counting"] += share; next }
            name_of ~ /^(load|store|resolve|enter|event_access|access|atomic|change|combined)/ ||
            name_of ~ /^(find_range|device_range)/ {
                part["memory"] += share; next }
            name_of ~ /^(warp_run|flow_|barrier|branch|block_|cluster_|next_|work|frame_)/ ||
            name_of ~ /^(launch_|start_|run_)/ {
                part["control"] += share; next }
            { part["arithmetic"] += share }
            END {
                for (p in part)
                    printf "share,%s,1048576,256,1,%s,%s,%.3g,%%\n", name, mode, p, part[p]
            }' | sort
}

{
    echo group,case,n,block,cores,mode,metric,value,unit
    for mode in plain counters; do
        say "scans, other programs: $mode"
        $bench $mode scans
        $bench $mode micro
    done
    say "growth, launches, blocks"
    $bench plain growth
    $bench plain launches
    for threads in $(seq 2 "$cores"); do
        EMU_THREADS=$threads BENCH_ONLY="step 5" $bench plain scans
        EMU_THREADS=$threads $bench plain launches
    done
    EMU_THREADS=$cores $bench plain blocks
    $bench plain check
    for tool in memcheck racecheck initcheck synccheck; do
        say "$tool"
        EMU_TOOL=$tool $bench $tool check 2>/dev/null
    done
    say "starting"
    $bench plain startup build/tests/programs/shared
    $bench plain startup build/tests/emulator/programs/O3/thrust_sort
    if command -v perf >/dev/null; then
        say "where the time goes"
        for mode in plain counters; do
            for step in 5 7; do BENCH_ONLY="step $step" && export BENCH_ONLY && shares $mode; done
        done
    fi
} >"$work/values"

mkdir -p "$(dirname "$out")"
{
    about "The emulator's speed; see profiles/README.md." \
        "CPU: $(cpu), $cores cores, $(grep -qw avx2 /proc/cpuinfo && echo AVX2 || echo no AVX2)" \
        "compiler: $(gcc --version | head -n 1)"
    profiles/measure/cases.py <"$work/values"
} >"$out"
grep '^#' "$out"
awk -F , '
    { printf "%-20s %-28s %9s %5s %5s %-10s ", $1, $2, $3, $4, $5, $6
      printf "%-13s %12s %s\n", $7, $8, $9 }' "$work/values"
