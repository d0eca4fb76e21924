#!/usr/bin/env bats
# structured.bats — the forms of emu's reports for programs: JSON and the others. structured.py
# checks the files.
load common

# The sanitized tests run the ordinary emulator, too, for which these have been run already.
setup() {
    [ -z "${SANITIZED:-}" ] || skip "the ordinary tree has run it"
    need python3
    P=build/tests/programs/reported
    SOURCE=tests/cases/fixtures/programs/reported.cu
    T=$BATS_TEST_TMPDIR
}

check() { python3 tests/cli/structured.py "$@"; }
emu() { build/emu/emu "$@"; }

@test "JSON: the counters are those of the CSV, and add up" {
    emu --json --log-file "$T/j" $P counts padded counts
    metrics=$(python3 -c 'import sys; sys.path.insert(0, "tests/cli")
from structured import METRICS; print(",".join(METRICS))')
    emu --csv --metrics "$metrics" --log-file "$T/c" $P counts padded counts
    check same_counters "$T/j" "$T/c"
    check adds_up "$T/j"
}

@test "JSON: two runs are the same, byte by byte, with any number of host threads" {
    emu --json --threads 1 --log-file "$T/1" $P counts race
    emu --json --threads 4 --log-file "$T/2" $P counts race
    cmp "$T/1" "$T/2"
}

@test "JSON: a hazard has both places, and the text has the same" {
    emu --json --tool racecheck --log-file "$T/j" $P counts race 2>"$T/text"
    check hazard "$T/j" "$T/text" $SOURCE
}

@test "JSON: an access out of bounds, and the launch that failed" {
    emu --json --tool memcheck --log-file "$T/j" $P counts outside 2>/dev/null
    check outside "$T/j" $SOURCE
}

@test "JSON: names with quotes, control characters and bytes that are not UTF-8" {
    name=$'a"b\\c\n\x01\t\x7f\xff\xc3d'
    cp $P "$T/$name"
    emu --json --log-file "$T/j" "$T/$name" counts
    check program "$T/j" 'a"b\\c\n\x01\t\x7f\ufffd\ufffdd'
}

@test "JSON: on stdout behind the program's output, and without a launch" {
    run -0 emu --json $P
    says $'done\n{\n  "format": "upsweep-emu",'
    says '"launches": []'
}

@test "text: operations and classes in two lines, of all launches of a kernel" {
    run emu --page raw $P counts padded
    says "    PTX instructions by class: integer 16, f32 4, logic 8, convert 4, move 20, load 12,"
    says $' store 8,\n        sync 4, control 4\n'
    says "    arithmetic, in elements of all threads: add.s32 128, add.s64 128, fma.f32 128, mul.lo"
    run emu --metrics emu__ptx_inst_executed.sum $P counts
    says_not "by class"
}

@test "a limit on warp instructions ends a kernel in the same way with any number of host threads" {
    for threads in 1 4; do
        run emu --kernel-instructions 39 --threads $threads --log-file /dev/null $P counts
        says "kernel counts has executed more than 39 warp instructions, and EMU_KERNEL_INSTR"
    done
    run emu --kernel-instructions 40 --log-file /dev/null $P counts
    says_not "has executed"
    run -2 emu --kernel-instructions 0 $P counts
    says "--kernel-instructions takes a number from 1"
}

@test "annotate: a source file with counters at each line" {
    emu --annotate $SOURCE --log-file "$T/a" $P counts
    check annotated "$T/a" $SOURCE
    emu --annotate tests/cases/fixtures --log-file "$T/b" $P counts
    cmp "$T/a" "$T/b"
}

@test "annotate: in colour on a terminal only, and a source that is not counted" {
    need script
    run script -qec "build/emu/emu --annotate $SOURCE $P counts" /dev/null
    says $'\033[31m       14\033[0m'
    says "       2 |     __syncthreads();" # the count of a barrier is not red
    NO_COLOR=1 run script -qec "build/emu/emu --annotate $SOURCE $P counts" /dev/null
    says_not $'\033'
    run emu --annotate README.md $P counts
    says "no kernel has counted a line of $PWD/README.md; was the program compiled with -lineinfo?"
}

@test "SARIF: required parts, relative URIs, both places of a hazard, notes for counters" {
    emu --tool racecheck --sarif "$T/s" $P counts race 2>/dev/null
    check sarif "$T/s" $SOURCE racecheck/read-after-write@later@earlier \
        racecheck/write-after-read@earlier@later counters/bank-conflicts@conflict \
        counters/bank-conflicts@sectors
    emu --tool memcheck --sarif "$T/s" $P outside 2>/dev/null
    check sarif "$T/s" $SOURCE memcheck/out-of-bounds@outside memcheck/api-error
}

@test "warnings: findings first, then the worst lines, escaped, on stderr" {
    emu --tool racecheck --warnings $P counts race 2>"$T/e"
    run grep '^::' "$T/e"
    [ "${#lines[@]}" -eq 4 ]
    title="WAR hazard at __shared__ address"
    [[ "${lines[0]}" == "::error file=$SOURCE,line=25,title=$title::Error: Race reported "* ]]
    [[ "${lines[0]}" == *"%0A    and Write access"* ]]
    title="bank conflicts"
    said="14 bank conflicts: shared memory takes 16 wavefronts, and 2 would do"
    [[ "${lines[2]}" == "::warning file=$SOURCE,line=18,title=$title::$said"* ]]
}

@test "budget: one sentence for each excess, and exit code 4" {
    printf '# limits\ncounts conflicts 28\n* wavefronts 32 # all\ncounts sectors 64\n' >"$T/right"
    run -0 emu --log-file /dev/null --budget "$T/right" $P counts counts
    printf '%s\n' 'counts conflicts 27' '* sectors 63' 'race emu__ptx_inst_executed.sum 10' \
        'rac conflicts 0' >"$T/b"
    run -4 emu --log-file /dev/null --budget "$T/b" $P padded counts race
    says "emu: launch 1, of kernel counts: 28 conflicts, and $T/b:1 allows 27
emu: launch 0, of kernel counts: 64 sectors, and $T/b:2 allows 63
emu: launch 2, of kernel race: 34 emu__ptx_inst_executed.sum, and $T/b:3 allows 10
"
    says "emu: kernel rac has not run to an end, and $T/b:4 has a number for it: is its name right?"
    [ "${#lines[@]}" -eq 5 ]
}

@test "budget: what is malformed is refused before the program runs" {
    for line in 'counts conflicts' 'counts conflicts 1 2' 'counts conflict 1' 'counts sectors -1' \
        'counts sectors many' '# nothing'; do
        echo "$line" >"$T/b"
        run -2 emu --budget "$T/b" $P counts
        says "emu: --budget cannot be used: $T/b:"
        says_not done
    done
    printf 'counts \e[31m 1\n' >"$T/b"
    run emu --budget "$T/b" $P counts
    says 'there is no counter "\x1b[31m"'
    run -2 emu --budget "$T/missing" $P counts
    run -2 env EMU_BUDGET="$T/b" LD_LIBRARY_PATH=build/emu $P counts
    says "emu: EMU_BUDGET cannot be used: $T/b:"
}

@test "budget: a launch that failed is not within a limit" {
    printf '* conflicts 1000\ncounts sectors 1000\n' >"$T/b"
    run -4 emu --log-file /dev/null --kernel-instructions 3 --budget "$T/b" $P counts
    says "emu: launch 0, of kernel counts: it failed, so it is not known whether it is within $T/b:1
"
    says "within $T/b:2"
    says_not "is its name right"
}

@test "baseline: an earlier run's CSV" {
    emu --csv --log-file "$T/padded" $P padded padded
    emu --csv $P counts >"$T/counts"
    run -0 emu --log-file /dev/null --baseline "$T/counts" $P counts race
    run -4 emu --log-file /dev/null --baseline "$T/padded" $P counts padded
    metric=l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
    says "emu: all 2 launches of kernel counts: 14 $metric, and $T/padded has 0"
    run -4 emu --log-file /dev/null --baseline "$T/counts" $P race
    says "emu: kernel counts has not run to an end, and $T/counts:"
    run -2 emu --log-file /dev/null --baseline "$T/counts" --trace "$T/counts" $P counts
    says "emu: the trace and the baseline are one file, $T/counts"
    head='"ID","Kernel Name"'
    for text in '' 'a,b' "$head"$'\n' "$head,\"$metric\""$'\n' \
        "$head,\"$metric\""$'\n"0","k","x"\n' "$head,\"$metric\""$'\n"0","k"\n' \
        $'"ID","Kernel\n'; do
        printf '%s' "$text" >"$T/wrong"
        run -2 emu --baseline "$T/wrong" $P counts
        says "emu: --baseline cannot be used: $T/wrong"
    done
}

@test "budget: a program that fails by itself keeps its exit code" {
    printf '* conflicts 0\n' >"$T/b"
    run -7 emu --log-file /dev/null --budget "$T/b" build/tests/programs/shared 7
    says "conflicts, and $T/b:1 allows 0"
}

@test "numbers have a point in PTX and in every form, whatever locale the program sets" {
    unset "${!LC_@}" && export LANG=C LOCPATH=$T
    mkdir "$T/comma" # what localedef makes of decimal_point ",", where its package is installed
    base64 -d >"$T/comma/LC_NUMERIC" <<<"FBEDIAYAAAAgAAAAIgAAACQAAAAoAAAALAAAADAAAAAsAC4AAwMAACwAA\
AAuAAAAQU5TSV9YMy40LTE5NjgA"
    [ "$(env LC_NUMERIC=comma printf %.1f 1,5)" = 1,5 ]
    metric=l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio
    echo "counts $metric 0.5" >"$T/b"
    for locale in C comma; do
        for form in --csv --json --launches; do
            env LC_NUMERIC=$locale build/emu/emu $form --metrics $metric --budget "$T/b" \
                --html "$T/h" --log-file "$T/l" $P counts outside 2>&1 || true
            cat "$T/h" "$T/l"
        done | sed 's/^\(\[\|"0","\)[0-9]*//' >"$T/in-$locale" # the process
    done
    [ "$(grep -c "allows 0\.5" "$T/in-C")" -eq 3 ]
    diff "$T/in-C" "$T/in-comma"
}

@test "HTML: one page that is complete, for programs of any name" {
    emu --tool racecheck --html "$T/h" $P counts race 2>/dev/null
    check page "$T/h" $SOURCE
    cp $P "$T/<b>&amp;\"x"
    emu --tool racecheck --html "$T/h" "$T/<b>&amp;\"x" counts race 2>/dev/null
    check page "$T/h" $SOURCE
    grep -F '<h1>&#60;b&#62;&#38;amp;&#34;x</h1>' "$T/h"
}

# bats test_tags=slow
@test "HTML: pictures of the worst access of a line, and of the warps of a block" {
    emu --html "$T/1" --threads 1 $P padded counts race >"$T/out"
    check pictures "$T/1" 2 2
    emu --html "$T/4" --threads 4 $P padded counts race >"$T/out"
    cmp "$T/1" "$T/4"
    emu --html "$T/h" $P padded >"$T/out"
    check pictures "$T/h" 0 1
    grep -q "<p>1 launch on an emulated " "$T/h"
    emu --html "$T/h" ./step3 --n 1024 --reps 1 --device emu >"$T/out"
    grep -q 'fill="#e83"' "$T/h"
    emu --html "$T/h" build/tests/programs/launches often 2000 >"$T/out"
    check pictures "$T/h" 1 2
    grep -q ", 1 warp, " "$T/h"
    [ "$(wc -c <"$T/h")" -lt 100000 ]
}

# ---- several programs ----------------------------------------------------------------------------

@test "the programs of a command have one JSON document, one SARIF log and one page" {
    emu --tool racecheck --json --sarif "$T/s" --html "$T/h" --log-file "$T/j" \
        sh -c "$P counts; $P race" >"$T/out"
    check programs "$T/j" counts race
    check sarif "$T/s" $SOURCE racecheck/read-after-write@later@earlier \
        counters/bank-conflicts@conflict
    check page "$T/h" $SOURCE
    [ "$(grep -c '<h1>' "$T/h")" -eq 2 ]
    emu --json sh -c "$P padded >$T/out" >"$T/j"
    check programs "$T/j" counts
    emu --json --sarif "$T/s" --log-file "$T/j" sh -c : 2>/dev/null
    check programs "$T/j"
    check sarif "$T/s" $SOURCE
}

@test "budget: each kernel is run by one of a command's programs" {
    printf 'counts sectors 64\nrace sectors 100\n' >"$T/b"
    run -0 emu --log-file /dev/null --budget "$T/b" sh -c "$P counts; $P race"
    [ "$output" = $'done\ndone' ]
    run -4 emu --log-file /dev/null --budget "$T/b" sh -c "$P counts"
    says "emu: kernel race has not run to an end, and $T/b:2 has a number for it"
    run -5 emu --log-file /dev/null --budget "$T/b" sh -c "exit 5"
}

# ---- forked processes ----------------------------------------------------------------------------

@test "a process that is forked before its parent uses CUDA is observed" {
    F="build/tests/programs/ends fork"
    for how in child quick; do
        run -9 emu --tool racecheck --error-exitcode 9 $F $how
        says "child: cudaSuccess, cudaSuccess"
        says "EMU (checks as compute-sanitizer does), in the forked process "
        says "WAR hazard at __shared__ address"
        says "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
        says "RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)"
    done
    emu --tool racecheck --json --sarif "$T/s" --log-file "$T/j" $F child parent child >/dev/null
    for file in "$T"/[js]*; do python3 -m json.tool "$file" >/dev/null; done
    grep -l '"errors": 2' "$T/j".*
    emu --csv --log-file "$T/c" $F child child parent
    for file in "$T/c" "$T"/c.*; do [ "$(grep -c '"race"' "$file")" -eq 1 ]; done
    emu --trace "$T/trace" --log-file /dev/null $F child
    grep -q race "$T"/trace.*
    printf 'race conflicts 0\n' >"$T/b"
    emu --log-file /dev/null --budget "$T/b" $F child
    printf '* sectors 1\n' >"$T/b"
    run -4 emu --log-file /dev/null --budget "$T/b" $F child
    emu --csv --log-file "$T/c" sh -c "$F child; $F child parent"
    [ "$(grep -c '"race"' "$T/c")" -eq 3 ]
    [ "$(grep -c '^"ID"' "$T/c")" -eq 1 ]
}

# As on a GPU.
@test "a process that is forked after its parent has used CUDA gets an error from each call" {
    run -9 emu --tool racecheck --error-exitcode 9 build/tests/programs/ends fork parent child
    says "emu: this process was forked after its parent had used CUDA, "
    says "child: cudaErrorInitializationError, cudaErrorInitializationError"
    says "RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)"
}

# ---- programs that do not end by exit ------------------------------------------------------------

# WAYS CODE: however the program ends, --error-exitcode counts, and each form is there and whole.
# The program's own exit code is CODE. The tests' caller may ignore signals, as nohup does.
reports_all() {
    for how in $1; do
        echo "$how"
        rm -f "$T"/*
        run -9 timeout 30 env --default-signal build/emu/emu --tool racecheck --error-exitcode 9 \
            --json --log-file "$T/j" --sarif "$T/s" --html "$T/h" build/tests/programs/ends $how
        [ "$(grep -c 'RACECHECK SUMMARY: 2 hazards displayed' <<<"$output")" -eq 1 ]
        python3 -m json.tool "$T/j" >/dev/null
        python3 -m json.tool "$T/s" >/dev/null
        grep -q '</html>' "$T/h"
        run timeout 30 env --default-signal build/emu/emu --csv build/tests/programs/ends $how
        [ "$status" -eq "$2" ]
        [ "$(grep -c '"race"' <<<"$output")" -eq 1 ]
        [ "$(ls "$T" | wc -l)" -eq 3 ]
    done
}

# bats test_tags=slow
@test "a program that ends by _exit, in a thread, in a handler, or in a kernel, has its reports" {
    reports_all "exit _exit _Exit quick_exit thread handler kernel vfork" 5
}

# bats test_tags=slow
@test "a program that ends by a signal has its reports" {
    reports_all "SIGSEGV crash stack printf" 139
    reports_all abort 134
    reports_all SIGTERM 143
    reports_all SIGHUP 129
    reports_all "SIGALRM running" 142
    reports_all SIGPIPE 141
}

@test "an end without a finding keeps the program's exit code, and does not write twice" {
    for how in "_exit 5" "abort 134"; do
        read -r name code <<<"$how"
        run timeout 30 build/emu/emu --tool memcheck --error-exitcode 9 build/tests/programs/ends \
            "$name"
        [ "$status" -eq "$code" ]
        [ "$(grep -c 'ERROR SUMMARY: 0 errors' <<<"$output")" -eq 1 ]
    done
    emu --csv --log-file "$T/c" build/tests/programs/ends fork quick parent
    [ "$(cat "$T"/c* | grep -c '"race"')" -eq 2 ]
}
