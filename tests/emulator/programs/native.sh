#!/bin/bash
# Builds the programs in this folder for the GPU of this machine and runs them on it, to show that
# the programs are right: native.sh [FOLDER], where FOLDER receives the binaries (default:
# build/native). Prints a line per program; the exit code is 1 if one was wrong. wrong.cu, whose
# kernels fail on purpose, runs last.
cd "$(dirname "$0")/../../.." || exit
folder=${1:-build/native}
here=tests/emulator/programs
mkdir -p "$folder"
export folder here

build() {
    name=$1
    extra=$(sed -n "s/^PROGRAM_$name *= *//p" $here/programs.mk)
    nvcc -O3 -arch=native $extra $here/$name.cu -o "$folder/$name" || echo "$name: does not compile"
}
export -f build
names=$(cd $here && ls *.cu | grep -v '^wrong\.cu$' | sed 's/\.cu$//')
echo wrong $names | tr ' ' '\n' | xargs -P "$(nproc)" -I NAME bash -c 'build NAME'

right=0 skipped=0 wrong=0
for name in $names; do
    output=$(timeout 120 "$folder/$name" 2>&1)
    code=$?
    case $code in
    0) right=$((right + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) wrong=$((wrong + 1)) ;;
    esac
    printf '%-22s %3d  %s\n' "$name" $code "$output"
done
for way in $("$folder/wrong" list); do
    output=$(timeout 120 "$folder/wrong" "$way" 2>&1 | tail -1)
    printf 'wrong %-18s     %s\n' "$way" "$output"
done
echo "$right right, $skipped skipped, $wrong wrong"
[ $wrong = 0 ]
