#!/bin/sh
# diff_step.sh — prints what a step changes in the step that it continues: make diffN. The header of
# a step's scan.cu names that step, in "Same as step K except: …". Header comments are left out, and
# names such as step05_scan are stepNN_scan, so that only real changes show.
#
#   common/build/diff_step.sh N
set -eu
cd "$(dirname "$0")/../.."

# source_of N: the file that holds the scan of step N
source_of() {
    for file in steps/"$(printf %02d "$1")"-*/scan.cu steps/"$(printf %02d "$1")"-*/scan.c; do
        if [ -f "$file" ]; then
            echo "$file"
            return
        fi
    done
    echo "make diff$1: step $1 has no scan.cu to compare; its chapter says what it builds on" >&2
    exit 2
}
# without_header FILE NUMBER; nor with the comments that mark a lab's gaps
without_header() {
    sed -e '1,/^ \*\/$/d' -e "s/step$(printf %02d "$2")/stepNN/g" -e '/^ *\/\/ lab: /d' \
        -e 's/ \/\/ lab: .*//' "$1"
}

case $1 in
'' | *[!0-9]*) echo "make diffN: N is the number of a step, not $1" >&2 && exit 2 ;;
esac
# The applications continue a file of an earlier step, or one variant the other: steps.csv.
row=$(grep "^$1," steps/steps.csv) || row=
old=steps/$(echo "$row" | cut -d , -f 10) new=$(echo steps/"$1"-*/"${row##*,}")
if [ -f "$old" ]; then
    before=${old#steps/} before=${before%%-*}
else
    new=$(source_of "$1")
    before=$(sed -n '1,/^ \*\/$/s/^ \* Same as step \([0-9]*\) except.*/\1/p' "$new")
    if [ -z "$before" ]; then
        echo "make diff$1: step $1 continues no other step" >&2
        exit 2
    fi
    old=$(source_of "$before")
fi

work=$(mktemp -d) && trap 'rm -r "$work"' EXIT
without_header "$old" "$before" >"$work/old"
without_header "$new" "$1" >"$work/new"
sed -n '1,/^ \*\/$/p' "$new" |
    sed -n '/^ \* Same as /,/^ \* What/{/^ \* What/!s/^ \* //p}'
color=never
[ ! -t 1 ] || color=always
diff -u --color=$color --label "$old" --label "$new" "$work/old" "$work/new" || [ $? = 1 ]
