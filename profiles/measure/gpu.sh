#!/bin/sh
# gpu.sh — measures every step on a GPU, with ncu and compute-sanitizer if they are installed.
#
#   profiles/measure/gpu.sh [DIRECTORY [PART…]]      default: build/profiles, and all parts
#
# Writes DIRECTORY/PART.csv, each with `#` lines that name GPU, driver, toolkit and date:
#   verify      every step and variant, and CUB, at 2^10 … 2^28 (up to its limit): right or wrong,
#               time, share of the roof
#   patterns    the access patterns of step 0: time and bytes per second
#   sanitizer   compute-sanitizer's four tools on every step and variant
#   counters    ncu's counters of shared and global memory, one row per launch, and one per source
#               line, from ncu's Source page
#   limits      ncu's time of some launches of steps 13 and 15, and how busy issue slots, L2 and
#               memory are
#   stalls      ncu's time of each launch of steps 2 to 12 and of a copy, what warps wait for, and
#               how busy issue slots, L2 and memory are
#   operators   the machine code that ptxas makes of PTX's cache operators; needs cuobjdump
#   shuffles    the machine code that ptxas makes of step 9's variants; needs cuobjdump
#   compiled    times of steps 5 and 7 with other sizes of blocks, and with fewer registers
#   experiments the results of steps/*/experiments
#   both        those rows of the experiments of steps 13 to 16 that notes/bench.md shows of two
#               GPUs
#   bench       all steps of any size, CUB and three ways to copy, timed in turns by ./bench:
#               powers of two and their neighbours, and the other types that step 12 and CUB add
#   promises    tests of what step 12 promises: the same bits each time and as on the CPU, every way
#               to call it, streams, graphs, another kernel on a part of the GPU (tests/promises)
#   large       the steps of any size at 2^31 + 5: right or wrong; they run at the same time, so
#               there are no times
#   every       step 16's operators, types, shapes and directions, and some of them with 2^31 + 5
#               elements: right or wrong
#
# The recordings in profiles/<gpu>/ are copies of these files; no script overwrites them. STEPS,
# VARIANTS and SIZES limit what is recorded, as in STEPS="8 9" (steps.sh); merge.py puts such rows
# into a whole recording. Of the experiments, ROWS keeps those that it matches.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=${1:-build/profiles}
[ $# -eq 0 ] || shift
parts=${*:-verify patterns sanitizer counters limits stalls operators shuffles compiled \
    experiments bench promises large every}
mkdir -p "$out" || exit 2
failed=0

. profiles/measure/steps.sh
. profiles/measure/recording.sh
# Sizes at which a step is verified and timed: those of one block if it takes no more, else from
# 2^10 on.
sizes() {
    case $(limit "$1") in
    ?*) up_to "$1" 512 1024 2048 ;;
    *) up_to "$1" $(seq -f 2^%.0f 10 24) 2^26 2^28 2^20+1 ;;
    esac
}
# Runs ./stepN, or ./cub, with a variant, unless that is "-".
step() {
    program=./step$1 variant=$2
    [ "$1" != cub ] || program=./cub
    shift 2
    # shellcheck disable=SC2046 # two words, or none
    "$program" --device cuda $(choose "$variant") "$@"
}
row=$(mktemp) && trap 'rm -f "$row" "$row".*' EXIT

# Runs as many steps at a time as fit into the GPU's memory. Each needs 4 times 8 GiB: input,
# output, and a workspace as large as both.
large() {
    about_gpu "Steps of any size at 2^31 + 5 elements, verified element by element." \
        >"$out/large.csv"
    free=$(nvidia-smi --query-gpu=memory.free --format=csv,noheader,nounits | head -1)
    at_once=$((free / (4 * 8 * 1024 + 1024))) running=0
    [ "$at_once" -ge 1 ] || at_once=1
    for number in $(steps 0); do
        [ -z "$(limit "$number")" ] || continue
        for variant in $([ "$number" = 0 ] && echo float4 || variants "$number"); do
            running=$((running + 1))
            step "$number" "$variant" --n 2^31+5 --reps 0 --csv >"$row.large.$running" \
                2>"$row.large.$running.err" &
            [ $((running % at_once)) -ne 0 ] || wait
        done
    done
    wait
    for file in $(seq -f "$row.large.%.0f" 1 $running); do
        if [ -s "$file" ]; then append "$file" "$out/large.csv"
        else failed=$((failed + 1)); cat "$file.err" >&2; fi
    done
}

verify() {
    about_gpu "Every step, and CUB: verified, timed (cold L2, medians), beside the roof." \
        >"$out/verify.csv"
    for number in $(steps 1 cub); do
        for variant in $(variants "$number"); do
            for n in $(sizes "$number"); do
                if step "$number" "$variant" --n "$n" --csv >"$row"; then
                    append "$row" "$out/verify.csv"
                else failed=$((failed + 1)); echo "step $number $variant $n failed" >&2; fi
            done
        done
    done
}
patterns() {
    about_gpu "Access patterns of step 0: time and bytes a second." >"$out/patterns.csv"
    ./step0 --device cuda --n 2^26 --csv >"$row" && append "$row" "$out/patterns.csv"
}

# compute-sanitizer slows down every launch, and step 8 has dozens of them, so few elements must be
# enough there. Step 12 has a kernel each for small, mid-sized and large n.
sanitized_sizes() {
    case $1:$2 in
    8:*) echo 1000 ;;
    12:f32) echo 1000 65539 2^22+5 2^23+1048581 ;;
    12:f64) echo 65539 2^21+5 2^22+524293 ;;
    *)
        if only_powers "$1"; then echo 1024
        elif [ -n "$(limit "$1")" ]; then echo 1000
        else echo 65539
        fi ;;
    esac
}
# Several at a time, because compute-sanitizer's programs wait more than they compute.
sanitizer() {
    about_gpu "compute-sanitizer on every step: 0 errors means clean." >"$out/sanitizer.csv"
    echo step,variant,n,metric,value >"$row.values"
    running=0
    for tool in memcheck racecheck initcheck synccheck; do
        for number in $(steps 0 | grep -vx 1); do # that one runs on the CPU
            for variant in $(variants "$number"); do
                for size in $(sanitized_sizes "$number" "$variant"); do
                    running=$((running + 1))
                    sanitize $tool "$number" "$variant" "$(value "$size")" \
                        >"$row.sanitized.$running" &
                    [ $((running % 8)) -ne 0 ] || wait
                done
            done
        done
    done
    wait
    for file in $(seq -f "$row.sanitized.%.0f" 1 $running); do
        cat "$file" >>"$row.values"
        ! grep -qv ',0$' "$file" || failed=$((failed + 1))
    done
    profiles/measure/cases.py <"$row.values" >>"$out/sanitizer.csv"
}
# sanitize TOOL STEP VARIANT N: prints the errors and the exit code of a run.
sanitize() {
    # shellcheck disable=SC2046
    said=$(timeout 300 compute-sanitizer --tool "$1" --error-exitcode 9 "./step$2" --device cuda \
        $(choose "$3") --n "$4" --reps 0 2>&1)
    code=$?
    errors=$(echo "$said" | sed -n 's/.*ERROR SUMMARY: \([0-9]*\) error.*/\1/p
        s/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p')
    echo "$2,$3,$4,$1 errors,${errors:-?}"
    echo "$2,$3,$4,$1 exit,$code"
    [ "$code" = 0 ] || echo "$said" | tail -n 5 >&2
}
# Three runs: every step at powers of two; beside these only steps that should be faster than CUB;
# the other types.
bench() {
    about_gpu "All steps, CUB and copies side by side: ./bench, L2 emptied by reading, medians." \
        >"$out/bench.csv"
    sizes=$(echo "${SIZES:-}" | tr ' ' ,)
    side_by_side ${STEPS:+--steps "roof,cub,$(echo "$STEPS" | tr ' ' ,)"} --n "${sizes:-2^10..2^30}"
    side_by_side --steps roof,cub,12 --n "${sizes:-2^10..2^30}" --near
    side_by_side --steps roof,cub,12 --n "${sizes:-2^10..2^30}" --types i32,u64,f64,i16,i8
    side_by_side --steps roof,cub,12 --n "${sizes:-2^10..2^28}" --flush memset
}
side_by_side() {
    [ -x ./bench ] || make bench >&2
    ./bench --device cuda --csv "$@" >"$row" ||
        { failed=$((failed + 1)); echo "bench $* failed" >&2; }
    append "$row" "$out/bench.csv"
}
# Sizes at which ncu counts: those of one block, and from one block to many; two of them if a
# variant changes little. Each launch becomes a row, so for step 8, with dozens of launches, one
# variant and fewer sizes must be enough.
counted_sizes() {
    case $1:$2 in
    8:hybrid) up_to 8 512 2^16 2^20 ;;
    8:*) ;;
    10:forward | 11:tile4096 | 11:tile8192) up_to "$1" 2^16 2^20 ;;
    12:f32) up_to 12 512 2048 2^16 2^20 2^22 2^24 ;; # scan_wave, from 2^24 on scan_pipeline
    12:f64) up_to 12 2048 2^16 2^22 ;;
    12:*) ;;
    13:* | 14:* | 15:* | 16:*) up_to "$1" 512 2^16 ;; # the sizes of test_applications.py
    *) up_to "$1" 512 1024 2048 2^16 2^20 2^24 ;;
    esac
}
# Four scans at a time; ncu itself lets one kernel run after the other. The order of the rows stays
# the same.
counters() {
    what="counters of every launch of one verified scan, and of its source lines."
    about_gpu "ncu --clock-control none: $what" >"$out/counters.csv"
    metrics=$(listed profiles/measure/metrics.txt)
    running=0
    for number in $(steps 2); do
        for variant in $(variants "$number"); do
            for size in $(counted_sizes "$number" "$variant"); do
                running=$((running + 1))
                counters_of "$number" "$variant" "$(value "$size")" "$row.counted.$running" &
                [ $((running % ${AT_ONCE:-4})) -ne 0 ] || wait
            done
        done
    done
    wait
    : >"$row.values"
    for file in $(seq -f "$row.counted.%.0f" 1 $running); do
        if [ -s "$file.long" ]; then append "$file.long" "$row.values"
        else failed=$((failed + 1)); tail -n 5 "$file.said" "$file.raw" >&2; fi
    done
    profiles/measure/cases.py <"$row.values" >>"$out/counters.csv"
}
# counters_of STEP VARIANT N FILE: leaves the rows in FILE.long, or no such file; ncu's Source pages
# in folder KEEP.
counters_of() {
    # shellcheck disable=SC2046
    ncu --clock-control none --metrics "$metrics" --section SourceCounters --import-source yes \
        -f -o "$4" \
        "./step$1" --device cuda $(choose "$2") --n "$3" --reps 0 --verify full --csv \
        >"$4.said" 2>&1
    ncu --import "$4.ncu-rep" --csv --page raw --print-units base >"$4.raw" 2>&1
    ncu --import "$4.ncu-rep" --csv --page source --print-source cuda,sass >"$4.source" 2>&1
    [ -z "${KEEP:-}" ] || gzip -c "$4.source" >"$KEEP/$1-$2-$3.source.gz"
    if profiles/measure/ncu_long.py "$1" "$2" "$3" profiles/measure/metrics.txt <"$4.raw" \
        >"$4.rows" &&
        launches=$(sed 1d "$4.rows" | cut -d, -f5 | sort -u | wc -l) &&
        profiles/measure/ncu_source.py "$1" "$2" "$3" "$launches" <"$4.source" >>"$4.rows"; then
        mv "$4.rows" "$4.long"
    fi
}

# Launches that miss a goal, or are near to it: what keeps them from it.
limits() {
    about_gpu "What limits some launches: ncu's time, and how busy the parts of the GPU are." \
        >"$out/limits.csv"
    : >"$row.values"
    for size in 2^24 2^28; do
        launches_of limits 13 kept10 "$size" --variant fast --real --keep "x > 0.9"
    done
    for size in 2^16 2^17 2^28; do launches_of limits 15 u32 "$size" --variant fast; done
    profiles/measure/cases.py <"$row.values" >>"$out/limits.csv"
}
# launches_of PART STEP NAME N OPTION…: appends what ncu says of each launch of a scan to the part's
# rows. metrics_PART.txt lists the metrics; NAME says in the rows what the options choose.
launches_of() {
    list=profiles/measure/metrics_$1.txt number=$2 name=$3 n=$(value "$4")
    shift 4
    if ncu --clock-control none --metrics "$(listed "$list")" --csv --page raw --print-units base \
        "./step$number" --device cuda --n "$n" --reps 0 --verify none "$@" >"$row" 2>&1; then
        profiles/measure/ncu_long.py "$number" "$name" "$n" "$list" <"$row" >"$row.long" &&
            append "$row.long" "$row.values" && return
    fi
    failed=$((failed + 1))
    tail -n 5 "$row" >&2
}

# Why scans take the time that they take, beside step 0's copy. One at a time, so that no other
# program uses the memory meanwhile; ncu empties the caches before each launch.
stalls() {
    about_gpu "What warps wait for, and how busy the GPU is: ncu --clock-control none." \
        >"$out/stalls.csv"
    : >"$row.values"
    for scan in 0:float4 2:- 3:- 4:pad32 5:conflict-free 5:work-efficient 5:naive 6:- 7:- \
        8:hybrid 9:shfl 10:backward 11:tile2048 11:tile8192 12:f32; do
        number=${scan%%:*} variant=${scan#*:}
        asked "$number" "${STEPS:-}" || continue
        case $number in
        2 | 3 | 4) counted="512 512 512 512" ;; # short launches differ from run to run
        0 | 12) counted="2^20 2^24 2^28" ;;
        *) counted="2^20 2^24" ;;
        esac
        # shellcheck disable=SC2046,SC2086
        for size in $(among "$counted" "${SIZES:-}"); do
            launches_of stalls "$number" "$variant" "$size" $(choose "$variant")
        done
    done
    profiles/measure/cases.py <"$row.values" >>"$out/stalls.csv"
}

# Prints the memory instructions of each kernel of operators.cu, without the store at the end of a
# load's kernel.
operators() {
    nvcc=$(common/build/toolkit.sh)/bin/nvcc
    about_gpu "What ptxas makes of PTX's cache operators and orderings, for sm_90." \
        >"$out/operators.csv"
    echo "ptx,sass" >>"$out/operators.csv"
    "$nvcc" -arch=sm_90 -cubin -o "$row.cubin" profiles/measure/operators.cu &&
        cuobjdump -sass "$row.cubin" | awk '
        function flush() {
            if (name) { if (name ~ /^ld/) sub(/ STG\.E$/, "", code); print name "," code }
        }
        /Function :/ { flush(); name = $3; code = "" }
        $2 ~ /^(LDG|STG|MEMBAR|CCTL|FENCE)/ { sub(/;$/, "", $2); code = code (code ? " " : "") $2 }
        END { flush() }' | sort >>"$out/operators.csv" || failed=$((failed + 1))
}

# Counts each instruction in step 9's scan_block, and how many of them are predicated. In the
# kernels' mangled names the variant is a number.
shuffles() {
    # This needs no GPU.
    about "Machine instructions of step 9's scan_block, as ptxas writes them for sm_90." \
        >"$out/shuffles.csv"
    echo "variant,instruction,count,predicated" >>"$out/shuffles.csv"
    cuobjdump -arch sm_90 -sass step9 | awk '
        /Function :/ { variant = /scan_blockILi0E/ ? "shfl" : /scan_blockILi1E/ ? "predicate" : "" }
        variant && $1 ~ /^\/\*[0-9a-f]+\*\/$/ && $2 !~ /^\/\*/ {
            at = $2 ~ /^@/ ? 3 : 2; name = $at; sub(/[.;].*/, "", name); name = variant "," name
            count[name]++; predicated[name] += at == 3 }
        END { for (name in count) print name "," count[name] "," predicated[name] }' | sort >"$row"
    if [ -s "$row" ]; then cat "$row" >>"$out/shuffles.csv"; else failed=$((failed + 1)); fi
}

# Steps 5 and 7 compiled with other options. The first column names the option: B128, R24, or - for
# the default. cuobjdump prints the registers and the local memory (stack) of the largest kernel.
compiled() {
    about_gpu "Step 5 with blocks of B elements, step 7 with at most R registers a thread: times." \
        >"$out/compiled.csv"
    : >"$row.rows"
    for otherwise in 5-B64 5-B128 5-B256 5-B1024 5-B2048 7-R24 7-R32; do
        make "step$otherwise" >&2 || { failed=$((failed + 1)); continue; }
    done
    for program in 5-B64 5-B128 5-B256 5 5-B1024 5-B2048 7-R24 7-R32 7; do
        used=$(cuobjdump -arch sm_90 -res-usage "./step$program" 2>&1 |
            sed -n 's/.*REG:\([0-9]*\) STACK:\([0-9]*\).*/\1 \2/p' | sort -n | tail -1)
        for n in 2^16 2^20 2^24 2^28; do
            "./step$program" --device cuda --n $n --csv >"$row" ||
                { failed=$((failed + 1)); continue; }
            how=$(echo "$program" | sed 's/^[57]$/-/; s/^[57]-//')
            [ -s "$row.rows" ] || sed -n '1s/^/how,registers,stack,/p' "$row" >"$row.rows"
            sed -n "2,\$s/^/$how,${used% *},${used#* },/p" "$row" >>"$row.rows"
        done
    done
    cat "$row.rows" >>"$out/compiled.csv"
}

experiments() {
    about_gpu "The small experiments, steps/*/experiments: times are medians." \
        >"$out/experiments.csv"
    programs=
    for source in steps/*/experiments/*.cu; do
        number=${source#steps/} number=${number%%-*}
        [ "$number" != 17 ] || continue # several processes: ranks.sh
        ! asked "${number#0}" "${STEPS:-}" ||
            programs="$programs build/experiments/$number-$(basename "$source" .cu)"
    done
    # shellcheck disable=SC2086
    make $programs >&2 || failed=$((failed + 1))
    : >"$row.values"
    for program in $programs; do
        if "$program" --device cuda --csv >"$row"; then append "$row" "$row.values"
        else failed=$((failed + 1)); echo "$program failed" >&2; fi
    done
    if [ -n "${ROWS:-}" ]; then
        grep -E "^experiment,|$ROWS" "$row.values" >"$row.kept"
        mv "$row.kept" "$row.values"
    fi
    profiles/measure/cases.py <"$row.values" >>"$out/experiments.csv"
}

# The rows whose parameters, as in "u32 pairs n=16777216", the recording of an H100 has.
both() {
    parameters=$(awk -F, '!/^#/ && NF { print $4 }' profiles/h100/experiments.csv | sort -u)
    STEPS="13 14 15 16" ROWS=",($(echo "$parameters" | paste -sd '|'))," experiments
}

promises() {
    about_gpu "What step 12 promises, tried: every element compared with what it has to be." \
        >"$out/promises.csv"
    programs=
    for name in same-bits-cub every-way streams beside; do
        programs="$programs build/promises/12-$name"
    done
    # shellcheck disable=SC2086
    make $programs >&2 || failed=$((failed + 1))
    : >"$row.values"
    for program in $programs; do
        "$program" --device cuda --csv >"$row" ||
            { failed=$((failed + 1)); echo "$program failed" >&2; }
        append "$row" "$row.values"
    done
    profiles/measure/cases.py <"$row.values" >>"$out/promises.csv"
}

# every_run N OP TYPE SHAPE DIRECTION OPTION…: runs step 16 and appends the row. The options say
# all of this, too.
every_run() {
    number=$1 op=$2 type=$3 shape=$4 direction=$5
    shift 5
    said=$(timeout 300 ./step16 --device cuda --reps 0 --csv --op "$op" "$@" 2>&1 | tail -n 1)
    verdict=$(echo "$said" | awk -F, '{ print ($0 ~ /,full,true,/) ? "right" : "wrong" }')
    echo "$op,$type,$shape,$direction,$number,$verdict" >>"$out/every.csv"
    [ "$verdict" = right ] || echo "step16 --op $op $*: $said" >&2
}
# The operators with their types, and the kinds of heads that they take.
EVERY="sum:f32,f64,i32,i64:bytes,bits,keys,offsets product:f32,f64,i64:bits,offsets
    max:f32,f64,i32,i64:bytes,bits,keys,offsets min:f32,f64,i32,i64:bits,offsets
    xor:u32,u64:bits,offsets logsumexp:f32,f64:bits,offsets affine:f32,f64:bits,offsets
    ema:f32,f64:bits,offsets discount:f32,f64:bits,offsets brackets:-:bits,offsets
    line-of-sight:f32:bits,offsets"
every_small() (
    running=0
    for each in $EVERY; do
        op=${each%%:*} kinds=${each##*:} types=${each#*:} types=${types%:*}
        for type in $(echo "$types" | tr , ' '); do
            for direction in forward reverse; do
                for shape in one 1100x1000:1 35000x31:0 1100x1000:0 $(echo "$kinds" | tr , ' '); do
                    options=
                    [ "$type" = - ] || options="--type $type"
                    [ $direction = forward ] || options="$options --reverse"
                    case $shape in
                    one) options="$options --n 2^20+1" number=1048577 ;;
                    *x*:*) options="$options --shape ${shape%:*} --along ${shape#*:}"
                        number=$((${shape%%x*} * $(echo "${shape%:*}" | cut -dx -f2))) ;;
                    *) options="$options --n 2^20+1 --heads $shape" number=1048577 ;;
                    esac
                    running=$((running + 1))
                    # shellcheck disable=SC2086
                    every_run $number "$op" "$type" "$shape" $direction $options &
                    [ $((running % ${AT_ONCE:-12})) -ne 0 ] || wait
                done
            done
        done
    done
    wait
)
every() {
    about_gpu "Step 16: operators, types, shapes and directions, verified element by element." \
        >"$out/every.csv"
    echo "op,type,shape,direction,n,verdict" >>"$out/every.csv"
    # A run takes 35 GB of memory, on the GPU and on the host.
    n=2147483653
    every_run $n sum f32 one forward --n $n &
    every_run $n affine f32 one reverse --n $n --reverse &
    every_run $((n - 5)) max i32 67108864x32:0 forward --type i32 --shape 67108864x32 --along 0 &
    every_small # its `wait` is for its own runs
    wait
    { grep '^#\|^op' "$out/every.csv"; grep -v '^#\|^op' "$out/every.csv" | sort; } >"$row" &&
        cat "$row" >"$out/every.csv"
    failed=$((failed + $(grep -c wrong "$out/every.csv")))
}

for part in $parts; do $part; done
[ "$failed" = 0 ] || { echo "$failed runs failed" >&2; exit 1; }
