#!/bin/sh
# skeleton.sh [--solution | --broken BUG | --exercise CHAPTER] NUMBER SCAN.CU: prints a lab's file,
# made of a step's scan.cu and of the step's own headers. The host code is left out. In scan.cu and
# the headers, comments mark what is the lab's:
#
#     // lab: add each left child to its right sibling     a gap begins: what belongs there
#     // lab: end                                          it ends
#     // lab: instance scan_block<PAD32>(float *, int)     compile the template with these arguments
#     #include "naive.cuh" // lab: left out
#
# A gap's lines are left out, and the lab says how many there were. With --solution they stay. With
# --broken they stay as well, and nothing shows that they are a gap: exercise.sh puts in a fault. So
# does --exercise, and the file names the chapter that says what is to be written.
# profiles/ and the compiler see comments only.
solution=0 bug=0 exercise=0
if [ "$1" = --solution ]; then
    solution=1
    shift
elif [ "$1" = --broken ] || [ "$1" = --exercise ]; then
    bug=$2
    [ "$1" = --broken ] || exercise=1
    shift 2
fi
[ $# -eq 2 ] && [ -r "$2" ] || {
    echo "skeleton.sh: give a lab's number and its readable scan.cu, not \"$*\"." >&2
    exit 2
}
exec awk -v solution=$solution -v bug="$bug" -v exercise=$exercise -v number="$1" \
    -v folder="$(dirname "$2")" '
# ---- gaps ----

# A line that a student would have to write: not empty, not a comment alone, not a brace alone.
function is_code(text) { return text !~ /^[ \t]*(\/\/.*)?$/ && text !~ /^[ \t]*[{}][ \t]*$/ }

function indent_of(text) { match(text, /^ */); return substr(text, 1, RLENGTH) }

function begin_gap(text) {
    gap++
    gap_indent = indent_of(text)
    gap_task = text
    sub(/^.*\/\/ lab: /, "", gap_task)
    gap_text = ""
    gap_lines = 0
    in_gap = 1
}

function end_gap() {
    in_gap = 0
    if (bug) { printf "%s", gap_text; return }
    printf "%s// ---- gap %d: %s\n", gap_indent, gap, gap_task
    printf "%s// ---- (about %d line%s)\n", gap_indent, gap_lines, gap_lines == 1 ? "" : "s"
    printf "%s", solution ? gap_text : "\n"
    printf "%s// ---- end of gap %d\n", gap_indent, gap
}

function gap_line(text) {
    gap_text = gap_text text "\n"
    gap_lines += is_code(text)
}

# ---- lines ----

# The description of the lab stands above that of the step.
function put_head(text) {
    title = text
    sub(/^ \* Step [0-9]+: /, "", title)
    if (bug) { put_bug_head(title); return }
    print " * Lab " number ": " title
    print " *"
    print " * Fill in the gaps. Each says what belongs there, and about how many lines that takes."
    print " *   make check" number "          compiles this file, runs it, and says what is right"
    print " *   make hint" number " LEVEL=1   gives a hint; LEVEL=2 and LEVEL=3 say more"
    print " * The lab launches the kernels: keep their names and parameters. Headers of the step"
    print " * are in this file, too. notes/labs.md says how points are computed."
    print " *"
    print " * The step this lab is made of:"
}

function put_exercise_head(title) {
    print " * Exercise " bug ": " title
    print " *"
    print " * make exercise" bug " says what to write."
    print " *   make check-exercise" bug "   runs the file, with all checkers on"
    print " * The step this file is made of:"
}

function put_bug_head(title) {
    if (exercise) { put_exercise_head(title); return }
    print " * Bug " bug ": " title
    print " *"
    print " * One thing in this file is wrong. Results may be right all the same. Find the fault."
    print " *   make check-bug" bug "   runs the file as lab " number ", with all checkers on"
    print " * The step this file is made of:"
}

function put(text) {
    if (text ~ /^ \* Step [0-9]+: / && !has_head) { has_head = 1; put_head(text); return }
    if (text ~ /^ \* How to run it:/) return
    # A kernel must not be static, or it is dropped: no host code here launches it.
    if (shift && text ~ /^       /) text = substr(text, 8)
    shift = sub(/^static __global__/, "__global__", text) || shift
    if (text ~ /^{/) shift = 0
    print text
}

function include(text, from,    name, path) {
    if (text ~ /lab: left out/) return
    match(text, /"[^"]*"/)
    name = substr(text, RSTART + 1, RLENGTH - 2)
    path = folder "/" name
    if (name == "common/step/float4.cuh") path = folder "/../../" name
    else if (name ~ /\//) {
        if (name ~ /^common\//) { print "#include <stddef.h>"; print "#include <stdint.h>" }
        return
    }
    if (path in included) return
    included[path] = 1
    print ""
    read(path)
}

function line(text) {
    if (text ~ /\/\/ lab: end/) end_gap()
    else if (text ~ /\/\/ lab: instance /) {
        sub(/^.*\/\/ lab: instance /, "", text)
        instances = instances "template __global__ void " text ";\n"
    }
    else if (text ~ /^#include "/) include(text)
    else if (text ~ /\/\/ lab: /) begin_gap(text)
    else if (in_gap) gap_line(text)
    else put(text)
}

# Reads a file up to the host code.
function read(path,    text, status) {
    while ((status = (getline text < path)) > 0) {
        if (text ~ /^extern "C" /) break
        line(text)
    }
    if (status < 0) { print "skeleton.sh: " path " cannot be read." > "/dev/stderr"; failed = 1 }
    close(path)
}

BEGIN {
    read(ARGV[1])
    if (in_gap || gap == 0) {
        wrong = gap ? " has a gap without an end." : " has no gap."
        print "skeleton.sh: " ARGV[1] wrong > "/dev/stderr"
        failed = 1
    }
    if (instances) printf "// What the lab launches.\n%s", instances
    exit failed
}' "$2"
