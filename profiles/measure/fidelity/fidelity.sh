#!/bin/sh
# fidelity.sh — records ncu's counters of memory instructions in many patterns.
#
#   fidelity.sh [DIRECTORY [PART…]]     needs a GPU and ncu; default: build/profiles, and all parts
#   fidelity.sh --convert FOLDER FILE   makes FILE of the FOLDER that an earlier run has kept
#
# Writes DIRECTORY/PART.csv, whose `#` lines name GPU, driver, toolkit and date:
#   fidelity    loads, stores and atomics (patterns.cu)
#   copies      asynchronous copies (copies.cu)
#   matrices    ldmatrix, stmatrix, and wmma's loads and stores (matrices.cu)
#   tensor      what tensor cores compute, as raw bits (tensor.cu); needs no ncu
#   textures    what texture units read, as raw bits (textures.cu); needs no ncu
#   bits        what operations compute, bit for bit (bits.cu); needs no ncu
#   carries     the carry flag after instructions with .cc (carries.cu); needs no ncu
#   contraction of which products and sums ptxas makes one fma (contraction.cu); needs no ncu
#   functions   what functions of all kinds compute (functions.py); needs no ncu
#   alignments  to how many bytes allocations are aligned (alignments.cu); needs no ncu
#   pages       which accesses outside of an array end a kernel (pages.cu); needs no ncu
#   answers     attributes, limits and error codes of the runtime (answers.cu); needs no ncu
#   boxes       what becomes of bulk copies of boxes of tensors, right and wrong
#               (tests/fixtures/programs/tensors.cu); needs no ncu
#   product     the kernels of notes/more/matrix-product.cu
# What ncu printed stays in the folder DIRECTORY/PART; fidelity.py says what each file holds.
# profiles/<gpu>/PART.csv is a copy; no script overwrites it.
set -eu
cd "$(dirname "$0")/../../.."
. profiles/measure/recording.sh

# The lines of FOLDER/about, and the table; what textures.cu prints is a table already.
convert() {
    { cat "$1/about" && if [ -e "$1/table" ]; then cat "$1/table"; else
        profiles/measure/fidelity/fidelity.py "$1"; fi; } >"$2.new" && mv "$2.new" "$2"
}
if [ "${1:-}" = --convert ]; then
    [ $# -eq 3 ] || { echo "fidelity.sh: --convert takes a folder and a file" >&2; exit 2; }
    convert "$2" "$3"
    exit
fi

out=${1:-build/profiles}
[ $# -eq 0 ] || shift
parts=${*:-fidelity copies matrices tensor textures bits carries contraction functions \
    alignments pages answers boxes product}
toolkit=$(common/build/toolkit.sh)
PATH=$PATH:$toolkit/bin LD_LIBRARY_PATH=$toolkit/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
case " $parts " in
*" fidelity "* | *" copies "* | *" matrices "* | *" product "*)
    command -v ncu >/dev/null || { echo "fidelity.sh: ncu is not installed" >&2; exit 2; } ;;
esac
make build/fidelity/patterns build/fidelity/copies build/fidelity/matrices build/fidelity/tensor \
    build/fidelity/textures build/fidelity/pages build/fidelity/bits build/fidelity/carries \
    build/fidelity/contraction build/fidelity/alignments build/fidelity/answers

# metrics FORMAT NAME...: the names in the format, with commas between them.
metrics() {
    # shellcheck disable=SC2059
    format=$1 && shift && printf "$format," "$@"
}
shared=$(metrics l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum ld st atom)
shared=$shared$(metrics l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum ld st atom)
global=
for counter in requests sectors; do
    global=$global$(metrics l1tex__t_${counter}_pipe_lsu_mem_global_op_%s.sum ld st atom red)
    global=$global$(metrics l1tex__t_${counter}_pipe_lsu_mem_local_op_%s.sum ld st)
done
constant=$(metrics sm__idc_divergent_%s.sum instructions instruction_replays)
copied=$(profiles/measure/fidelity/fidelity.py --copies)
moved=$(profiles/measure/fidelity/fidelity.py --matrices)

# measure LOG OPTION...: ncu with these options, at the clocks and caches of everyday runs.
measure() {
    log=$1 && shift
    ncu --clock-control none --cache-control none "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}

fidelity() {
    program=build/fidelity/patterns
    $program --list >"$raw/patterns.csv"
    for space in shared global local const; do
        report=$raw/joined_$space
        measure "$report.log" --metrics "$shared$global${constant%,}" --section SourceCounters \
            -f -o "$report" $program --joined $space
        ncu --import "$report.ncu-rep" --csv --page raw --print-units base | gzip >"$report.raw.gz"
        ncu --import "$report.ncu-rep" --csv --page source --print-source sass |
            gzip >"$report.source.gz"
        rm "$report.ncu-rep"
    done
    # Instructions whose hardware counters are recorded for each pattern.
    for of in "shared atom.add u32" "shared atom.cas b32" "shared atom.exch b64" \
        "shared atom.xor b64" "shared red.add u32" "shared atom.add f32" "global atom.add u32" \
        "global red.add u32" "global atom.cas b32" "global atom.add u64"; do
        # shellcheck disable=SC2086
        set -- $of
        file=$raw/$1-$2-$3.csv
        case $1 in shared) counters=$shared ;; *) counters=$global ;; esac
        measure "$file.log" --metrics "${counters%,}" --csv --page raw --print-units base \
            --log-file "$file" $program "$1" "$2" "$3"
        gzip -f "$file"
    done
}

# each_kind PROGRAM METRICS: a launch for each pattern of each kind of instruction. Each kind has an
# ncu of its own, because ncu waits more than it computes.
each_kind() {
    program=build/fidelity/$1
    $program --list >"$raw/patterns.csv"
    running=0
    for kind in $(sed '1d; s/,"[^"]*"$//' "$raw/patterns.csv" | uniq); do
        running=$((running + 1))
        file=$raw/${kind%,*}-${kind#*,}.csv
        { measure "$file.log" --metrics "$2" --csv --page raw --print-units base \
            --log-file "$file" $program "${kind%,*}" "${kind#*,}" && gzip -f "$file"; } &
        [ $((running % 3)) -ne 0 ] || wait
    done
    wait
}

copies() { each_kind copies "$copied"; }

matrices() { each_kind matrices "$moved"; }

tensor() { build/fidelity/tensor >"$raw/lines"; }

textures() { build/fidelity/textures >"$raw/table"; }

bits() { build/fidelity/bits >"$raw/table"; }

carries() { build/fidelity/carries >"$raw/table"; }

contraction() { build/fidelity/contraction >"$raw/table"; }

functions() {
    rm -rf build/functions # the tests' programs are PTX alone
    shares=$(profiles/measure/fidelity/functions.py --shares slow |
        sed 's|[0-9][0-9]*|build/functions/&|g')
    # shellcheck disable=SC2086
    make -j "$(nproc)" FUNCTION_CODE=-arch=sm_90 $shares
    for share in $shares; do $share; done | awk 'NR == 1 || !/^kind,/' >"$raw/table"
    rm -rf build/functions
}

alignments() { build/fidelity/alignments >"$raw/table"; }

pages() { build/fidelity/pages >"$raw/table"; }

answers() { build/fidelity/answers >"$raw/table"; }

# A row for each way whose result does not depend on what lies beside the tensor.
boxes() {
    "$toolkit/bin/nvcc" -O3 -arch=sm_90 tests/fixtures/programs/tensors.cu -lcuda -o build/tensors
    {
        echo "way,error,element"
        for way in right unaligned large zeros rank local between before filled-f16 filled-f32 \
            filled-f64 stored-between stored-before added-between added-before ahead-between \
            ahead-before; do
            timeout 60 build/tensors $way | sed 's/: /,/; s/, /,/'
        done
    } >"$raw/table"
}

# One row for each kernel, which is launched once.
product() {
    for counter in data_bank_conflicts_pipe_lsu_mem_shared data_pipe_lsu_wavefronts_mem_shared \
        t_sectors_pipe_lsu_mem_global; do
        printf 'l1tex__%s.sum\n' ${counter}_op_ld ${counter}_op_st
    done >"$raw/metrics"
    "$toolkit/bin/nvcc" -O3 -arch=sm_90 notes/more/matrix-product.cu -o build/matrix-product
    measure "$raw/log" --metrics "$(listed "$raw/metrics")" --csv --page raw --print-units base \
        --log-file "$raw/raw.csv" build/matrix-product
    profiles/measure/ncu_long.py product - 64 "$raw/metrics" <"$raw/raw.csv" |
        profiles/measure/cases.py >"$raw/table"
}

for part in $parts; do
    raw=$out/$part
    mkdir -p "$raw"
    case $part in
    tensor) what="What tensor cores compute, as raw bits: see tensor.cu." ;;
    textures) what="What texture units read, as raw bits: see textures.cu." ;;
    bits) what="What operations compute, bit for bit: see bits.cu." ;;
    carries) what="The carry flag after instructions with .cc: see carries.cu." ;;
    contraction) what="Products and sums that ptxas makes one fma of: see contraction.cu." ;;
    functions) what="What functions compute, a digest each: see functions.py." ;;
    alignments) what="To how many bytes allocations are aligned: see alignments.cu." ;;
    pages) what="Which accesses outside of an array end a kernel: see pages.cu." ;;
    answers) what="What the runtime answers: see answers.cu." ;;
    boxes) what="Bulk copies of boxes of tensors: see tests/fixtures/programs/tensors.cu." ;;
    product) what="ncu's counters of the kernels of notes/more/matrix-product.cu, 64 x 64." ;;
    *) what="ncu's counters of memory instructions in many patterns: one warp, one instruction." ;;
    esac
    about_gpu "$what" >"$raw/about"
    $part
    convert "$raw" "$out/$part.csv"
    echo "fidelity: $out/$part.csv"
done
