#!/bin/bash
# run.sh — runs the programs of a file: run.sh FILE RESULT [GPU…]. The result has a line for each
# program and GPU, "NAME t4 right", "NAME t4 skipped", "NAME t4 wrong" (exit code 0, 77, anything
# else), and after a wrong one's line what the program printed, each line after a blank. Without
# GPUs the file runs natively.
file=$1 result=$2
shift 2
limit=300 # seconds

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
