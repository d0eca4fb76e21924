#!/bin/sh
# assemble.sh FOLDER [FILE...]: writes files of tests/cheats (without names, all of them) to
# FOLDER, as students hand them in. A line `//@ tree` becomes an honest solution of lab 3, and
# `//@ kernel` the head of the lab's kernel; @TOP@ becomes the path of the repository.
cheats=$(dirname "$0")
folder=$1
shift
[ $# -gt 0 ] || set -- "$cheats"/*.cu
head='__global__ void scan_block(float *g_odata, const float *g_idata, int n)'
for file; do
    sed -e "s|@TOP@|$(pwd)|; s|^//@ kernel$|$head|" -e "/^\/\/@ tree/{r $cheats/tree.cuh" -e 'd;}' \
        "$file" >"$folder/$(basename "$file")" || exit
done
