#!/bin/sh
# Runs a program as three GPUs and writes how it ended: run.sh PROGRAM RESULT. The result has a line
# a GPU, "t4 right", "t4 skipped", "t4 wrong" (exit code 0, 77, anything else), and behind a wrong
# one's line what the program printed, each line behind a blank.
program=$1 result=$2
limit=300 # seconds

for gpu in t4 h200 b200; do
    output=$(timeout $limit build/emu/emu --gpu $gpu --log-file /dev/null "$program" 2>&1)
    code=$?
    case $code in
    0) echo "$gpu right" ;;
    77) echo "$gpu skipped" ;;
    *)
        echo "$gpu wrong"
        echo "exit code $code
$output" | head -20 | cut -c 1-400 | sed 's/^/ /'
        ;;
    esac
done >"$result.new"
mv "$result.new" "$result"
