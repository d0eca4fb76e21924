#!/bin/sh
# assemble.sh FOLDER [NAME...]: writes cheats to FOLDER as students hand them in: NAME.cu is what is
# below `== NAME` in cheats.txt; without names, all of them. A line `//@ tree` or `//@ shuffles`
# becomes a solution of lab 3, the file of this name, and `//@ kernel` the head of the lab's kernel;
# @TOP@ becomes the path of the repository.
cheats=$(dirname "$0")
folder=$1
shift
# shellcheck disable=SC2046 # no name has a space
[ $# -gt 0 ] || set -- $(sed -n 's/^== //p' "$cheats/cheats.txt")
head='__global__ void scan_block(float *g_odata, const float *g_idata, int n)'
for name; do
    awk -v name="$name" '/^== / { wanted = $2 == name; next } wanted && NF' "$cheats/cheats.txt" |
        sed -e "s|@TOP@|$(pwd)|; s|^//@ kernel$|$head|" -e "/^\/\/@ tree/{r $cheats/tree.cuh" \
            -e 'd;}' -e "/^\/\/@ shuffles/{r $cheats/shuffles.cuh" -e 'd;}' \
            >"$folder/$(basename "$name").cu" || exit
    [ -s "$folder/$(basename "$name").cu" ] || {
        echo "There is no cheat $name." >&2
        exit 1
    }
done
