#!/bin/sh
# seeds.sh NAME FOLDER FILE…: what the fuzzer NAME begins with: its seeds, and besides, for two of
# the fuzzers, what the compiler ($NVCC) makes of a few programs, and for `cuda` these files.
set -e
name=$1 folder=$2 seeds=tests/measure/fuzz/seeds/$1 programs=tests/cases/fixtures
mkdir -p "$folder"
shift 2

# to_ptx TITLE OPTION... SOURCE
to_ptx() {
    title=$1
    shift
    $NVCC -ptx -I. -o "$folder/$title" "$@"
}

[ ! -e "$seeds" ] || LC_ALL=C awk -v folder="$folder" -f tests/measure/fuzz/seeds.awk "$seeds"
case $name in
ptx)
    to_ptx kernels.75 -arch=compute_75 -lineinfo $programs/programs/kernels.cu
    to_ptx kernels.O0 -arch=compute_90 -Xcicc -O0 $programs/programs/kernels.cu
    to_ptx cudart_kernels.100 -arch=compute_100 $programs/cudart_kernels.cu
    to_ptx scan.100 -arch=compute_100 steps/02-naive/scan.cu
    ;;
cubin)
    # The first byte for the reader of machine code is the architecture.
    for sm in 75 90 100; do
        $NVCC -cubin -lineinfo -arch=sm_$sm "$seeds.cu" -o "$folder/code"
        printf %b "\\0$(printf %o $sm)" | cat - "$folder/code" >"$folder/sm_$sm"
    done
    rm "$folder/code"
    ;;
cuda) for file; do cp "$file" "$folder/$(echo "$file" | tr / -)"; done ;;
esac
