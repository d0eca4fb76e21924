#!/bin/sh
# bug.sh NUMBER: prints one of the broken kernels: a step's kernels with one fault, which the
# commands below `== NUMBER` in bugs.txt make.
cd "$(dirname "$0")" || exit
fault=$(mktemp) && whole=$(mktemp) && trap 'rm -f "$fault" "$whole"' EXIT || exit
awk -v number="$1" '/^== / { wanted = $2 == number; next } wanted && NF' bugs.txt >"$fault"
[ -s "$fault" ] || {
    echo "bug.sh: there is no bug \"$1\"; there are 1 to $(grep -c '^== ' bugs.txt)." >&2
    exit 2
}
lab=$(sed -n '1s/^# lab \([0-9]*\):.*/\1/p' "$fault")
scan=$(ls ../../../steps/"$(printf %02d "$lab")"-*/scan.cu)
../skeleton.sh --broken "$1" "$lab" "$scan" >"$whole" || exit
sed -f "$fault" "$whole"
