# steps.sh — lists the steps, their variants and their limits, from their folders and ./stepN
# --help. gpu.sh and compare.sh source it in the top folder.
#
# STEPS="8 9 10", if set, leaves out all other steps. VARIANTS="f32 i32" and SIZES="2^20 2^24" do
# the same for variants and sizes.

# Prints the numbers of all steps, from the first argument on, that are built and asked for; then
# the other arguments (such as cub) that are asked for. Not step 17: it runs in several
# processes, and ranks.sh measures it.
steps() {
    from=$1
    shift
    for folder in steps/[0-9][0-9]-*; do
        number=${folder#steps/} number=${number%%-*} number=${number#0}
        [ "$number" != 17 ] || continue
        [ "$number" -ge "$from" ] && [ -x "./step$number" ] && asked "$number" "${STEPS:-}" &&
            echo "$number"
    done
    for name in "$@"; do asked "$name" "${STEPS:-}" && echo "$name"; done
    true
}
# Is the first argument a word of the second, or is that empty?
asked() {
    case " ${2:-$1} " in *" $1 "*) true ;; *) false ;; esac
}
# Prints the words of the first argument that are words of the second; all if the second is empty.
among() {
    for word in $1; do asked "$word" "$2" && echo "$word"; done
    true
}
help_of() {
    program=./step$1
    [ "$1" != cub ] || program=./cub
    "$program" --help
}
# Prints the names of a step's variants, the default first; "-" if it has no variants or if one run
# is enough: step 0 runs all of them by default, and step 1 and CUB are only references.
variants() {
    names=
    case $1 in
    0 | 1 | cub) ;;
    *) names=$(help_of "$1" | sed -n 's/ (default)//; s/^Variants: \(.*\)\.$/\1/p' | tr -d ,) ;;
    esac
    [ -z "$names" ] && echo - || among "$names" "${VARIANTS:-}"
}
# Prints the most elements that a step takes; nothing if it takes any number.
limit() { help_of "$1" | sed -n 's/^Default n:.* At most \([0-9]*\)\..*/\1/p'; }
only_powers() { help_of "$1" | grep -q '^Default n:.* A power of two\.'; }
# value 2^20+1
value() { echo $(($(echo "$1" | sed 's/^2^\([0-9]*\)/(1 << \1)/'))); }
# up_to STEP SIZE…: prints the sizes that the step takes.
up_to() {
    most=$(limit "$1")
    shift
    for size in $(among "$*" "${SIZES:-}"); do
        [ -n "$most" ] && [ "$(value "$size")" -gt "$most" ] || echo "$size"
    done
}
