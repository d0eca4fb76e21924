#!/bin/sh
# learn.sh [own] FILE …: checks the first puzzles one after the other, each one again whenever its
# file is saved. It ends after the last one, or by Ctrl-C.
own=
[ "$1" != own ] || { own=own && shift; }
export LEARN=1 # check_first.sh need not name the next puzzle
trap 'echo; echo "make learn goes on from here."; exit 0' INT
saved() { stat -c %Y%y "$file" 2>/dev/null; }
for file; do
    echo && sed -n "s|.*// your line: |$file: |p" "$file"
    awk -v puzzle="code: $(basename "$file" .cu) " '/^## / { heading = substr($0, 4) }
        index($0, puzzle) { print "It is explained in notes/first-kernel.md, \"" heading "\"." }' \
        notes/first-kernel.md
    while at=$(saved) && ! common/tools/labs/check_first.sh "$file" $own; do
        echo "Change $file. It is checked when you save it; Ctrl-C ends this."
        until now=$(saved) && [ "$now" != "$at" ]; do sleep 0.3; done
    done
done
