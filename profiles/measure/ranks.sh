#!/bin/sh
# ranks.sh — measures step 17: scans by several GPUs of one machine, and what limits them.
#
#   profiles/measure/ranks.sh [DIRECTORY [DEVICE]]      default: build/profiles, cuda
#
# Writes two files, each with `#` lines that name GPU, driver, toolkit and date:
#   ranks.csv           rows of the experiment 17-rates for 1 rank, 2 ranks and so on, up to the
#                       number of GPUs. Every result is verified there, element by element.
#   ranks_verified.csv  rows of ./step17 with all GPUs: each operator and type, and each exchange,
#                       verified on the host
# and fails if the checksums of results differ between numbers of ranks. With emu for DEVICE it runs
# on the emulator, with few elements and without times, as a test of this script. NCCL is the
# one that step 17 was built with (common/build/nccl.sh).
set -u
cd "$(dirname "$0")/../.." || exit 2
. profiles/measure/recording.sh
out=${1:-build/profiles}
device=${2:-cuda}
mkdir -p "$out" || exit 2

# Multicast through NVLink stays off: it is not needed here.
export NCCL_NVLS_ENABLE=0
# ranks P PROGRAM OPTIONS…
ranks() {
    number=$1
    shift
    common/build/mpirun.sh -x NCCL_NVLS_ENABLE -np "$number" "$@" --device "$device" --csv
}
about_ranks() {
    if [ "$device" = cuda ]; then
        set -- "$1" "GPU: $gpus of $(of_gpu name)" "driver: $(of_gpu driver_version)"
    else
        set -- "$1" "GPU: $gpus emulated"
    fi
    header=$(common/build/nccl.sh --home)/include/nccl.h
    about "$@" "MPI: $(mpirun --version | head -1)" \
        "NCCL: $(sed -n 's/^#define NCCL_VERSION_CODE *//p' "$header" 2>/dev/null)"
}
row=$(mktemp) && trap 'rm -f "$row" "$row.values"' EXIT
fail() {
    echo "ranks.sh: $1" >&2
    exit 1
}

make step17 build/experiments/17-rates >&2 || fail "step 17 cannot be built."
if [ "$device" = cuda ]; then gpus=$(nvidia-smi -L | wc -l); else gpus=2; fi
[ "$gpus" -ge 1 ] || fail "there is no GPU."

number=1
: >"$row.values"
while [ "$number" -le "$gpus" ]; do
    ranks $number build/experiments/17-rates >"$row" || fail "17-rates with $number ranks failed."
    append "$row" "$row.values"
    number=$((number + 1))
done
{ about_ranks "Scans by several GPUs: medians and quartiles, of the slowest rank." &&
    profiles/measure/cases.py <"$row.values"; } >"$out/ranks.csv" ||
    fail "ranks.csv cannot be written."
# Each row of a checksum has to be there once for each number of ranks, always with the same value.
different=$(grep ',checksum_' "$row.values" | sort -u | cut -d, -f 3-5 | uniq -d)
[ -z "$different" ] || fail "results differ between numbers of ranks: $different"

about_ranks "./step17 with all GPUs, verified on the host." >"$out/ranks_verified.csv"
if [ "$device" = cuda ]; then n=2^24+5; else n=20011; fi
verified() {
    ranks "$gpus" ./step17 --n $n "$@" >"$row" || fail "./step17 --n $n $* failed."
    append "$row" "$out/ranks_verified.csv"
}
for type in f32 f64; do verified --type $type --real; done
for type in i32 i64; do verified --type $type; done
verified --op affine
exchanges="mpi exscan"
[ "$device" != cuda ] || [ -z "$(common/build/nccl.sh)" ] || exchanges="$exchanges nccl"
for exchange in $exchanges; do verified --exchange "$exchange"; done
