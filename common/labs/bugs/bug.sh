#!/bin/sh
# bug.sh NUMBER: prints one of the broken kernels: a step's kernels with one fault, which
# NUMBER.sed makes. The first line of the script says of which lab, and what is wrong.
cd "$(dirname "$0")" || exit
[ -r "$1.sed" ] || {
    echo "bug.sh: there is no bug \"$1\"; there are 1 to $(ls ./*.sed | wc -l)." >&2
    exit 2
}
lab=$(sed -n '1s/^# lab \([0-9]*\):.*/\1/p' "$1.sed")
scan=$(ls ../../../steps/"$(printf %02d "$lab")"-*/scan.cu)
whole=$(mktemp) && trap 'rm -f "$whole"' EXIT
../skeleton.sh --broken "$1" "$lab" "$scan" >"$whole" || exit
sed -f "$1.sed" "$whole"
