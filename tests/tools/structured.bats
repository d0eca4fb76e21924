#!/usr/bin/env bats
# structured.bats — the forms of emu's reports for programs: JSON and the others. structured.py looks
# at what was written.
load common

setup() {
    need python3
    P=build/tests/programs/reported
    SOURCE=tests/fixtures/programs/reported.cu
    T=$BATS_TEST_TMPDIR
}

check() { python3 tests/tools/structured.py "$@"; }
emu() { build/emu/emu "$@"; }

@test "JSON: the counters are those of the CSV, and add up" {
    emu --json --log-file "$T/j" $P counts padded counts
    metrics=$(python3 -c 'import sys; sys.path.insert(0, "tests/tools")
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
    run emu --json $P
    [ "$status" -eq 0 ]
    says $'done\n{\n  "format": "upsweep-emu",'
    says '"launches": []'
}

@test "JSON: only kernels of a name" {
    emu --json --kernel-name race --log-file "$T/j" $P counts race
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert [l["kernel"] for l in d["launches"]] == ["race"]' "$T/j"
}

@test "JSON: not together with CSV, and not where it cannot be written" {
    run emu --json --csv $P
    [ "$status" -eq 2 ]
    says "--json and --csv are two forms of one report"
    EMU_JSON=1 EMU_LOG_FILE=$T/missing/j LD_LIBRARY_PATH=build/emu run $P counts
    [ "$status" -eq 2 ]
    says "emu: cannot write EMU_LOG_FILE="
    says_not done
}

@test "text: operations and classes in two lines, of all launches of a kernel" {
    run emu $P counts padded
    says $'    PTX instructions by class: integer 16, f32 4, logic 8, convert 4, move 20, load 12, store 8,\n        sync 4, control 4\n'
    says "    arithmetic, in elements of all threads: add.s32 128, add.s64 128, fma.f32 128, mul.lo.s32 128,"
    run emu --metrics emu__ptx_inst_executed.sum $P counts
    says_not "by class"
}

@test "a limit on warp instructions ends a kernel in the same way with any number of host threads" {
    for threads in 1 4; do
        run emu --kernel-instructions 39 --threads $threads --log-file /dev/null $P counts
        says "kernel counts has executed more than 39 warp instructions, and EMU_KERNEL_INSTRUCTIONS allows no more"
    done
    run emu --kernel-instructions 40 --log-file /dev/null $P counts
    says_not "has executed"
    run emu --kernel-instructions 0 $P counts
    [ "$status" -eq 2 ]
    says "--kernel-instructions takes a number from 1"
}
