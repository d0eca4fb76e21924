#!/bin/bash
# schedules.sh — runs the right programs of this repository in many orders: no run may hang, fail,
# or have a finding.
#
#   tests/unit/emulator/schedules.sh sample    each program in two of the ways
#   tests/unit/emulator/schedules.sh all       each program in each
#
# A way is a tool or none, together with 1, 2 or 8 host threads or one of ten seeds. Racecheck,
# initcheck and seeds always use one host thread, so other numbers are not tried with them. `all`
# includes the right kernels of cases/checks, from build/pairs. Prints the runs that went wrong, and
# a last line with totals; the exit code is 1 if a run went wrong. Runs in the top folder; EMU is
# the command.
set -u
emu=${EMU:-build/emu/emu} built=${BUILT:-build} runs=${1:-sample}
limit=120 # seconds; a hang is a run that takes longer
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

ways() {
    for tool in none memcheck synccheck; do
        for threads in 1 2 8; do echo "$tool $threads 0"; done
    done
    for tool in racecheck initcheck all; do echo "$tool 1 0"; done
    for seed in 1 2 3 4 5 6 7 8 9 10; do
        for tool in none memcheck racecheck initcheck synccheck all; do echo "$tool 1 $seed"; done
    done
}

steps() {
    while read -r step n variants; do
        for variant in $variants; do echo "./step$step --reps 0 --n $n --variant $variant"; done
    done <<'END'
2 501 -
3 512 -
4 512 pad32 pad16 pad32x2
5 10007 conflict-free work-efficient naive conflict-free-remainder
6 10007 -
7 10007 -
8 10007 hybrid tree naive
9 10007 shfl predicate
10 10007 backward forward
11 20000 tile2048 tile4096
12 30000 f32 f64 i32 i64 i16 i8
END
}

right_kernels() {
    for check in tests/cases/checks/*.cu; do
        sed -n "s|^/\* \([a-z-]*\) — .*|$built/pairs/$(basename "$check" .cu) \1 right|p" "$check"
    done
}

# The arguments with which each program is right. Programs that fail on purpose, or that show the
# errors of the runtime, are left out.
programs() {
    steps | sed 's/ --variant -$//'
    for way in add-barrier cas-barrier or-barrier volatile-barrier add-named cas-warp add-shuffle \
        add-sleep volatile-sleep add-object add-vote volatile-counted add-nothing add-cluster; do
        echo "$built/tests/programs/waits meet $way"
    done
    for type in f32 f64 i32 i64 i16 i8; do echo "$built/tests/programs/ring right $type 2 20"; done
    echo "$built/tests/programs/ticket drawn 20000"
    echo "$built/pairs/sync sync-unrolled right"
    echo "$built/pairs/memory memory-atomic right"
    echo "$built/tests/programs/linked"
    if [ "$runs" = all ]; then right_kernels; fi
    sed -n 's|^ *{"\([A-Za-z0-9]*/[a-z0-9_]*\)", "[a-z0-9]*", "\([a-z_]*\)"},$|\1 \2|p' \
        tests/unit/emulator/test_programs.c |
        grep -v -e driver_errors -e driver_mixed -e dynamic_streams -e clusters -e grids |
        # At -O0, groups of coalesced threads have other sizes in other orders.
        sed "s|^|$built/tests/cases/programs/|
             s|^.*/O0/threads cg_groups$|./step3 --reps 0 --n 64|"
}

# One run, "TOOL THREADS SEED PROGRAM …": prints a letter for its end, and the run if it went wrong.
run() {
    read -r tool threads seed program <<<"$1"
    options="--log-file $work/log.$$"
    [ "$tool" = none ] || options="$options --tool $tool"
    [ "$seed" = 0 ] || options="$options --schedule $seed"
    # shellcheck disable=SC2086
    EMU_THREADS=$threads timeout "$limit" "$emu" $options --error-exitcode 9 $program \
        >"$work/out.$$" 2>&1
    code=$?
    case $code in
    0) echo right ;;
    9) echo "found $1: $(sed -n 2,4p "$work/log.$$" | tr '\n' ' ')" ;;
    124) echo "hangs $1" ;;
    *) echo "fails $1: exit code $code: $(tail -1 "$work/out.$$")" ;;
    esac
}
export -f run
export emu limit work

ways >"$work/ways"
programs >"$work/programs"
count=$(wc -l <"$work/ways") number=0
while read -r program; do
    if [ "$runs" = all ]; then
        while read -r way; do echo "$way $program"; done <"$work/ways"
    else # so that each way is used by some program
        for k in $((number * 7 % count)) $((number * 7 + count / 2 + 3)); do
            echo "$(sed -n $((k % count + 1))p "$work/ways") $program"
        done
    fi
    number=$((number + 1))
done <"$work/programs" >"$work/runs"

xargs -P "$(nproc)" -d '\n' -I RUN bash -c 'run "$1"' run RUN <"$work/runs" >"$work/ends"
grep -v '^right$' "$work/ends"
for end in right found hangs fails; do declare "$end=$(grep -c "^$end" "$work/ends")"; done
# shellcheck disable=SC2154
echo "$(wc -l <"$work/programs") programs, $(wc -l <"$work/runs") runs: $right right," \
    "$hangs hang, $fails fail, $found with findings"
[ "$right" = "$(wc -l <"$work/runs")" ]
