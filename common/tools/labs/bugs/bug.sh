#!/bin/sh
# bug.sh NUMBER [CHAPTER]: prints one of the broken kernels: a step's kernels with one fault, which
# the commands below `== NUMBER` in bugs.txt make. CHAPTER: it is the exercise of this chapter.
cd "$(dirname "$0")" || exit
fault=$(mktemp) && whole=$(mktemp) && trap 'rm -f "$fault" "$whole"' EXIT || exit
awk -v number="$1" '/^== / { wanted = $2 == number; next } wanted && NF' bugs.txt >"$fault"
[ -s "$fault" ] || {
    echo "bug.sh: there is no bug \"$1\"; there are 1 to $(grep -c '^== ' bugs.txt)." >&2
    exit 2
}
lab=$(sed -n '1s/^# lab \([0-9]*\):.*/\1/p' "$fault")
scan=$(ls ../sources/"$(printf %02d "$lab")"-*.cu 2>/dev/null ||
    ls ../../../../steps/"$(printf %02d "$lab")"-*/scan.cu)
if [ -n "$2" ]; then
    set -- --exercise "$2"
else
    set -- --broken "$1"
fi
../skeleton.sh "$@" "$lab" "$scan" >"$whole" || exit
sed -f "$fault" "$whole"
