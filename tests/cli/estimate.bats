#!/usr/bin/env bats
# estimate.bats — before long work begins, a program says how long it will take and what makes it
# shorter. The work itself is ended as soon as that has been said.
load common
bats_require_minimum_version 1.5.0

# One thread and many runs, so that the work is long on any machine.
setup() {
    export DEVICE=emu EMU_THREADS=1 EMU_PROGRESS=1000
    dir=$BATS_TEST_TMPDIR
}

# estimated COMMAND…: runs it until there is an estimate on stderr, for five minutes at most. The
# output is then that line. Where a kernel takes two seconds, its progress has been shown before.
estimated() {
    : >"$dir/err" # the line of the program before must not be taken for this one's
    env --default-signal "$@" >"$dir/out" 2>"$dir/err" &
    program=$!
    for _ in $(seq 3000); do
        ! grep -q "this will take" "$dir/err" || break
        sleep 0.1
    done
    kill "$program" && wait "$program" || true
    output=$(grep "this will take" "$dir/err")
}

duration=" [0-9]* h [0-9]* min\| [0-9]* min\| [0-9]* s"
line="this will take about\($duration\), estimated by runs on 131 072 elements; faster: "

# bats test_tags=slow
@test "an estimate comes first, and says what is faster" {
    estimated ./step5 --n 2^26 --reps 50
    echo "$output" | grep -qx "step5: ${line}fewer elements, --reps 0"
    [ ! -s "$dir/out" ]
    estimated ./step12 --n 2^28 --reps 0
    echo "$output" | grep -qx "step12: ${line}fewer elements"
    estimated ./step13 --n 2^26 --reps 99 --verify none
    echo "$output" | grep -qx "step13: ${line}fewer elements, --reps 0"
    estimated ./step14 --n 2^26 --reps 99 # an application is verified as a whole
    echo "$output" | grep -qx "step14: ${line}fewer elements, --reps 0"
}

@test "many timed runs of few elements are long, too" {
    estimated ./step3 --n 2048 --reps 100000
    echo "$output" | grep -q "^step3: this will take about .* by runs on 2048 elements; faster: "
}

# bats test_tags=slow
@test "a file's elements are counted" {
    yes 1 | head -n 3000000 >"$dir/ones"
    estimated ./step9 --input "$dir/ones" --reps 3000
    echo "$output" | grep -qx "step9: ${line}fewer elements, --reps 0"
}

# bats test_tags=slow
@test "nothing is said of short work, or where it is turned off" {
    run -0 --separate-stderr ./step5 --n 2^16
    [[ $stderr != *"this will take"* ]] # a busy machine may show progress
    EMU_PROGRESS=0 timeout 3 ./step5 --n 2^26 2>"$dir/err" || true
    [ ! -s "$dir/err" ]
}

# The emulator would report on the runs that are estimated by.
# bats test_tags=slow
@test "under emu there are no other runs than those of the program" {
    run -0 build/emu/emu --csv --launches --log-file "$dir/log" ./step5 --n 2^20 --reps 0
    EMU_PROGRESS=0 build/emu/emu --csv --launches --log-file "$dir/quiet" ./step5 --n 2^20 --reps 0
    process=2 # the column of the process's number
    diff <(cut -d, -f$process --complement "$dir/log") \
        <(cut -d, -f$process --complement "$dir/quiet")
    EMU_PROGRESS=1000 timeout 5 build/emu/emu --tool memcheck ./step5 --n 2^26 2>"$dir/err" || true
    run cat "$dir/err"
    says_not "this will take"
}
