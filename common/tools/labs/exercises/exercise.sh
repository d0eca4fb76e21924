#!/bin/sh
# exercise.sh [--task | --judge] CHAPTER: prints the kernel with which the exercise of this chapter
# begins: a broken one of bugs.txt, or else the lab's solution; or what is to be written, which is
# the chapter's question of the kind "write"; or the lab or exercise as which it is judged.
# exercise.sh --bug NUMBER: prints a broken kernel of bugs.txt.
cd "$(dirname "$0")" || exit
what=--kernel lab=$1 head="--exercise $1"
case $1 in
--*) what=$1 && shift && lab=$1 ;;
esac
if [ "$what" = --bug ]; then
    bug=$1 head="--broken $1"
    lab=$(sed -n "/^== $1\$/{n;s/^# lab \([0-9]*\).*/\1/p;}" bugs.txt)
    [ -n "$lab" ] || {
        echo "exercise.sh: there is no bug \"$1\"; there are 1 to $(grep -c '^== ' bugs.txt)." >&2
        exit 2
    }
else
    bug=$(sed -n "/^== /{N;s/^== \(.*\)\n# lab $1, exercise: .*/\1/p;}" bugs.txt)
    grep -qx "== $1" ../tasks.txt || {
        echo "exercise.sh: chapter \"$1\" has no exercise." >&2
        exit 2
    }
fi
number=$(printf %02d "$lab")
case $what in
--judge) [ ! -e "solution$lab.sed" ] || lab=exercise$lab && echo "$lab" ;;
--task)
    awk '/^[1-9]\. / || /^$/ { inside = 0 } /^[1-9]\. \*Write\.\*/ { inside = 1 } inside' \
        ../../../../notes/"$number"-*.md | sed -e 's/^[1-9]\. \*Write\.\* //' -e 's/^   //'
    ;;
*)
    scan=$(ls ../sources/"$number"-*.cu 2>/dev/null || ls ../../../../steps/"$number"-*/scan.cu)
    # shellcheck disable=SC2086 # two words
    ../skeleton.sh $head "$lab" "$scan" |
        sed "$(awk -v bug="$bug" '/^== / { wanted = $2 == bug; next } wanted' bugs.txt)"
    ;;
esac
