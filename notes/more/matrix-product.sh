#!/bin/sh
# matrix-product.sh KERNEL: what the emulator counts in a kernel of matrix-product.cu, for each line
# that accesses memory. For notes/more/ldmatrix.md.
set -e
cd "$(dirname "$0")/../.."
source=notes/more/matrix-product.cu
program=build/matrix-product
if [ -z "$(find $program -newer $source 2>/dev/null)" ]; then
    "$(common/build/toolkit.sh)/bin/nvcc" -arch=sm_90 -lineinfo -cudart shared $source \
        -o $program.$$
    mv $program.$$ $program
fi
# Columns: the line's number; wavefronts, conflicts and sectors; the text.
build/emu/emu -k "$1" --annotate $source $program | cut -c 1-5,17-51,73- |
    grep -E 'wavefronts|^( +[0-9]+){2}'
