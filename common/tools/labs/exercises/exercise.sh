#!/bin/sh
# exercise.sh [--task | --judge] CHAPTER: prints the kernel with which the exercise of this chapter
# begins; or what is to be written, which is the chapter's question of the kind "write"; or the lab
# or exercise as which it is judged.
cd "$(dirname "$0")" || exit
what=kernel
case $1 in
--task | --judge) what=$1 && shift ;;
esac
row=$(awk -v chapter="$1" '$1 == chapter' exercises.txt)
[ -n "$row" ] || {
    echo "exercise.sh: chapter \"$1\" has no exercise." >&2
    exit 2
}
number=$(printf %02d "$1")
# shellcheck disable=SC2086
set -- $row # chapter, "bug" or "lab", its number, judge
case $what in
--judge) echo "$4" ;;
--task)
    awk '/^[1-9]\. / || /^$/ { inside = 0 } /^[1-9]\. \*Write\.\*/ { inside = 1 } inside' \
        ../../../../notes/"$number"-*.md | sed -e 's/^[1-9]\. \*Write\.\* //' -e 's/^   //'
    ;;
*)
    if [ "$2" = bug ]; then
        ../bugs/bug.sh "$3" "$1"
    else
        ../skeleton.sh --exercise "$1" "$3" ../../../../steps/"$number"-*/scan.cu
    fi
    ;;
esac
