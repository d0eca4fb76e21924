#!/bin/sh
# check_first.sh FILE [own]: runs one of the first puzzles on the emulator, with all checkers on.
# The program itself says whether its numbers are right. With "own", without nvcc: common/tools/cc
# compiles the kernel, and run-lab launches it. Exit code 1: it is not right yet.
file=$1
[ -r "$file" ] || {
    echo "check_first.sh: there is no $file; make $(basename "$file" .cu) writes it." >&2
    exit 2
}
findings=$(mktemp) && trap 'rm -f "$findings"' EXIT
if [ "$2" = own ]; then
    build/cc/upcc "$file" >"$findings" || exit 1
    build/labs/run-lab "$(basename "$file" .cu)" "$findings"
else
    build/emu/emu --tool all --error-exitcode 9 --kernel-instructions 16777216 \
        --log-file "$findings" run "$file" # as in run_puzzle.c
fi
case $? in
0)
    echo "$file is right."
    [ "$2" != own ] || echo "(Compiled without nvcc, by common/tools/cc.)"
    name=$(basename "$file" .cu) && next=first$((${name#first} + 1))
    if [ ! -e "steps/first-kernel/$next.cu" ]; then
        echo "That was the last puzzle. Next: \"The program\" in notes/first-kernel.md"
    elif [ -z "$LEARN" ]; then
        echo "Next: make $next"
    fi
    ;;
9)
    echo "The emulator's checkers found a mistake. This is the first one:"
    sed -n '2,/^=========$/s/^========= *//p' "$findings" | sed -n '/./{/^It was allocated/q;p;}'
    exit 1
    ;;
1) [ -n "$LEARN" ] || echo "$file is not right yet." && exit 1 ;;
*) exit 2 ;;
esac
