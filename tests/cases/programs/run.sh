#!/bin/bash
# run.sh — runs the programs of a file: run.sh FILE RESULT [GPU…]. The result has a line for each
# program and GPU, "NAME t4 right", "NAME t4 skipped", "NAME t4 wrong" (exit code 0, 77, anything
# else), and after a wrong one's line what the program printed, each line after a blank. Without
# GPUs the file runs natively.
#
# run.sh native [FOLDER] builds all files for the GPU of this machine, in the folder (default:
# build/native), and runs them on it, to show that the programs are right. The exit code is 1 if one
# was wrong. The kernels of wrong.cu fail on purpose: it prints their errors.
cd "$(dirname "$0")/../../.." || exit
limit=300 # seconds

run_programs() {
    local file=$1 result=$2
    shift 2
    for name in $("$file" list); do
        for gpu in "${@:-native}"; do
            emu=(build/emu/emu --gpu "$gpu" --log-file /dev/null)
            [ "$gpu" != native ] || emu=()
            output=$(timeout $limit "${emu[@]}" "$file" "$name" 2>&1)
            code=$?
            case $code in
            0) echo "$name $gpu right" ;;
            77) echo "$name $gpu skipped" ;;
            *)
                echo "$name $gpu wrong"
                echo "exit code $code
$output" | head -20 | cut -c 1-400 | sed 's/^/ /'
                ;;
            esac
        done
    done >"$result.new"
    mv "$result.new" "$result"
}

build() {
    flags=$(sed -n "s/^PROGRAM_$1 *= *//p" tests/cases/programs/programs.mk)
    # shellcheck disable=SC2086
    nvcc -O3 -arch=native $flags "tests/cases/programs/$1.cu" -o "$folder/$1" ||
        echo "$1: does not compile"
}
export -f build

if [ "$1" != native ]; then
    run_programs "$@"
    exit
fi
export folder=${2:-build/native}
mkdir -p "$folder"
names=$(basename -s .cu tests/cases/programs/*.cu)
echo "$names" | xargs -P "$(nproc)" -I NAME bash -c 'build NAME'
for name in $(echo "$names" | grep -v '^wrong$'); do
    run_programs "$folder/$name" "$folder/$name.result"
    cat "$folder/$name.result"
done
for way in $("$folder/wrong" list); do
    printf 'wrong %-18s     %s\n' "$way" "$(timeout 120 "$folder/wrong" "$way" 2>&1 | tail -1)"
done
! grep -q ' wrong$' "$folder"/*.result
