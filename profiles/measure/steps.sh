# steps.sh — which steps there are and what each takes: their folders and ./stepN --help say it. For gpu.sh and
# compare.sh, which source it in the top folder.
#
# STEPS="8 9 10", where it is set, leaves the others out; so do VARIANTS="f32 i32" and SIZES="2^20 2^24".

# The numbers of all steps from the first argument on that were built, and were asked for; then the other words
# of the arguments (such as cub), if they were.
steps() {
    from=$1
    shift
    for folder in steps/[0-9][0-9]-*; do
        number=${folder#steps/} number=${number%%-*} number=${number#0}
        [ "$number" -ge "$from" ] && [ -x "./step$number" ] && asked "$number" "${STEPS:-}" && echo "$number"
    done
    for name in "$@"; do asked "$name" "${STEPS:-}" && echo "$name"; done
    true
}
# Is the first argument a word of the second, or is that empty?
asked() {
    case " ${2:-$1} " in *" $1 "*) true ;; *) false ;; esac
}
# Those among the words of the first argument that are words of the second; all if that is empty.
among() {
    for word in $1; do asked "$word" "$2" && echo "$word"; done
    true
}
help_of() {
    program=./step$1
    [ "$1" != cub ] || program=./cub
    "$program" --help
}
# The names of a step's variants, the default first; "-" where it has none, and where one is enough: step 0 runs
# all of them by default, step 1 and CUB are only compared with.
variants() {
    names=
    case $1 in
    0 | 1 | cub) ;;
    *) names=$(help_of "$1" | sed -n 's/ (default)//; s/^Variants: \(.*\)\.$/\1/p' | tr -d ,) ;;
    esac
    [ -z "$names" ] && echo - || among "$names" "${VARIANTS:-}"
}
# The most elements that a step takes; nothing if any number fits.
limit() { help_of "$1" | sed -n 's/^Default n:.* At most \([0-9]*\)\..*/\1/p'; }
only_powers() { help_of "$1" | grep -q '^Default n:.* A power of two\.'; }
# value 2^20+1
value() { echo $(($(echo "$1" | sed 's/^2^\([0-9]*\)/(1 << \1)/'))); }
# up_to STEP SIZE…: of the sizes those that the step takes.
up_to() {
    most=$(limit "$1")
    shift
    for size in $(among "$*" "${SIZES:-}"); do
        [ -n "$most" ] && [ "$(value "$size")" -gt "$most" ] || echo "$size"
    done
}
