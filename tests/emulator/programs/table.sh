#!/bin/sh
# Shows how all programs ended in all configurations: table.sh FOLDER CONFIGURATIONS PROGRAM… A
# point is right, s skipped, X wrong; in a column there is one letter for each of T4, H200, B200.
# The output of wrong ones follows, and their results are removed, so that the next make runs them
# again. Exit code: 0 if nothing was wrong.
folder=$1 configurations=$2
shift 2

printf '\n%-24s' program
for configuration in $configurations; do printf ' %-4s' "$configuration"; done
echo '   (a letter each: compute_75, compute_90, compute_100)'
for program in "$@"; do
    printf '%-24s' "$program"
    for configuration in $configurations; do
        printf ' %-4s' "$(sed -n 's/^[a-z0-9]* right$/./p; s/^[a-z0-9]* skipped$/s/p
            s/^[a-z0-9]* wrong$/X/p' "$folder/$configuration/$program.result" | tr -d '\n')"
    done
    echo
done

results=$(for configuration in $configurations; do
    for program in "$@"; do echo "$folder/$configuration/$program.result"; done
done)
count() { cat $results | grep -c "^[a-z0-9]* $1\$"; }
right=$(count right) skipped=$(count skipped) wrong=$(count wrong)
echo
for result in $results; do
    grep -q ' wrong$' "$result" || continue
    echo "${result#"$folder"/}" | sed 's/\.result$//'
    grep -v -e ' right$' -e ' skipped$' "$result"
    rm "$result"
done
echo "$# programs, $((right + skipped + wrong)) runs: $right right, $skipped skipped for want of" \
    "compute capability 9.0, $wrong wrong"
[ "$wrong" = 0 ]
