#!/bin/bash
# native.sh — builds the programs in this folder for the GPU of this machine and runs them on it, to
# show that the programs are right: native.sh [FOLDER], where FOLDER receives the binaries (default:
# build/native). Prints a line for each program; the exit code is 1 if one was wrong. The kernels of
# wrong.cu fail on purpose: it prints their errors.
cd "$(dirname "$0")/../../.." || exit
folder=${1:-build/native}
here=tests/cases/programs
mkdir -p "$folder"
export folder here

build() {
    flags=$(sed -n "s/^PROGRAM_$1 *= *//p" $here/programs.mk)
    # shellcheck disable=SC2086
    nvcc -O3 -arch=native $flags "$here/$1.cu" -o "$folder/$1" || echo "$1: does not compile"
}
export -f build
names=$(cd $here && ls ./*.cu | sed 's|^./||; s|\.cu$||')
echo "$names" | xargs -P "$(nproc)" -I NAME bash -c 'build NAME'

for name in $(echo "$names" | grep -v '^wrong$'); do
    $here/run.sh "$folder/$name" "$folder/$name.result"
    cat "$folder/$name.result"
done
for way in $("$folder/wrong" list); do
    printf 'wrong %-18s     %s\n' "$way" "$(timeout 120 "$folder/wrong" "$way" 2>&1 | tail -1)"
done
! grep -q ' wrong$' "$folder"/*.result
