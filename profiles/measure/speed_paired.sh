#!/bin/sh
# speed_paired.sh — compares the emulator's speed with that of an older build, row by row.
#
#   make build/tests/bench/run && profiles/measure/speed_paired.sh OLD [PART ...]
#
# OLD is the folder of the older libcudart.so.13 (its build/emu). PARTs are those of the bench that
# run PTX: scans, micro (default: both), and check, which is scans with racecheck. Old and new take
# turns, five times each; of each row the highest rate is taken, since other programs on the machine
# can only lower it. Prints CSV: mode, group, case, n, rate of the old
# build, of the new one (millions of warp instructions per second of processor time, one core), and
# their ratio.
set -eu
cd "$(dirname "$0")/../.."
old=$1
shift
parts=${*:-scans micro}
rounds=5
export EMU_THREADS=1 EMU_PROGRESS=0 EMU_CHECK_LOG=/dev/null

rows() { # MODE PART WHICH FOLDER
    LD_LIBRARY_PATH=$4 build/tests/bench/run "$1" "$2" | sed -n "/,rate,/s/^/$3,/p"
}

modes() { # PART
    if [ "$1" = check ]; then echo racecheck; else echo plain counters; fi
}

for part in $parts; do
    for mode in $(modes "$part"); do
        if [ "$mode" = racecheck ]; then export EMU_TOOL=racecheck; else unset EMU_TOOL; fi
        round=0
        while [ $((round += 1)) -le $rounds ]; do
            rows $mode "$part" old "$old"
            rows $mode "$part" new build/emu
        done
        echo "  $mode $part" >&2
    done
done | awk -F , '
    BEGIN { OFS = ","; print "mode,group,case,n,old,new,ratio" }
    { row = $7 OFS $2 OFS $3 OFS $4 }
    !(row in seen) { seen[row] = 1; order[++count] = row }
    $9 > best[$1, row] { best[$1, row] = $9 + 0 }
    END {
        for (k = 1; k <= count; k++) {
            old = best["old", order[k]]; new = best["new", order[k]]
            printf "%s,%.1f,%.1f,%.2f\n", order[k], old, new, old ? new / old : 0
        }
    }'
