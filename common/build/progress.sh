#!/bin/sh
# progress.sh N TOTAL BEGAN TERMINAL WORD FILE: make says that it begins its Nth command of TOTAL. A
# terminal shows how many have begun; a log has a line for each tenth, with a word and a file. Both
# say how long the rest takes at the pace since BEGAN, where it is 10 s or more.
n=$1 total=$2 line=
left=$((n * 10 < total ? 0 : ($(date +%s) - $3) * (total - n) / n))
if [ $left -ge 10 ]; then left=", about $left s left"; else left=; fi
if [ -n "$4" ]; then
    [ "$n" = "$total" ] || line="  $n of $total$left"
    printf '%s\033[K\r' "$line"
elif [ $((n * 10 / total)) != $(((n - 1) * 10 / total)) ]; then
    printf '  %d of %d: %s %s%s\n' "$n" "$total" "$5" "$6" "$left"
fi
