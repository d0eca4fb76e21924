#!/usr/bin/env bats
# compare.bats — `make compare` and `make profileN`: the output and the files of
# profiles/measure/compare.sh and profile.sh without a GPU, and their messages when ncu cannot be
# used.
# bats file_tags=slow
load common

@test "two steps" {
    need python3
    A=3 B=4:pad16 LINES=1 run profiles/measure/compare.sh
    [ "$status" -eq 0 ]
    says "step 3 and step 4 pad16, n = 512"
    says "H200, recorded"
    says "bank conflicts, loads        375            86   0.23"\
"             375            86   0.23"
    says "temp[bi] += temp[ai];"
    while IFS= read -r line; do [ ${#line} -le 100 ]; done <<<"$output"
}

@test "make compare builds the steps that it compares" {
    run make -pn compare A=3 B=4:pad16
    says $'\ncompare: step3 step4\n'
    run make -pn compare
    says $'\ncompare: all\n'
}

# Each difference has its reason. (A bare [[ ]] would not say which has none.)
explained() {
    [[ $output != *"counters_differences.csv has"* ]] || { echo "$output"; return 1; }
}

@test "all steps as recorded" {
    need python3
    run profiles/measure/compare.sh
    [ "$status" -eq 0 ]
    says $'\n7  '
    # ptxas needs fewer additions in step 9: tests/steps/recorded_differences.c explains them.
    says "271520*"
    says "were recorded on an H200 and are equal, and "
    says "step 9 shfl       65536  additions       271 520  254 129
"
    says "
      ptxas makes of an addition"
    explained
    while IFS= read -r line; do
        [ ${#line} -le 100 ] || { echo "${#line}: $line"; return 1; }
    done <<<"$output"
}

# recording FILE GPU DIGIT: two scans of step 3, and one of step 4 with 1DIGIT wavefronts
recording() {
    echo "# GPU: $2"
    echo "# date: 2026-01-0$3"
    echo step,variant,n,kernel,launch,line,source,\
source_wavefronts_ld,source_ideal_ld,source_wavefronts_st,source_ideal_st
    for n in 512 1024; do echo "3,-,$n,k,0,scan.cu#1,a = b;,,,7,7"; done
    echo "4,pad16,512,k,0,scan.cu#1,t[i] += 1;,1$3,10,,"
} >"$BATS_TEST_TMPDIR/$1"

@test "two recordings: of many scans the numbers that differ, of one all" {
    need python3
    recording a.csv "NVIDIA X" 4
    recording b.csv "NVIDIA Y" 6
    export A=$BATS_TEST_TMPDIR/a.csv B=$BATS_TEST_TMPDIR/b.csv
    run profiles/measure/compare.sh
    [ "$status" -eq 0 ]
    says "a.csv, X 2026-01-04
B: "
    says "step 4 pad16  512  bank conflicts, loads   4   6   1.50"
    says "step 4 pad16  512  wavefronts, loads      14  16   1.14"
    says "3 scans are in both; of 12 numbers 10 are equal."

    STEPS=4 LINES=1 run profiles/measure/compare.sh
    [ "$status" -eq 0 ]
    says "X 2026-01-04  Y 2026-01-06"
    says "bank conflicts, loads              4             6   1.50"
    says "k            14          4            16          6  t[i] += 1;"

    A=none.csv B=4 run profiles/measure/compare.sh
    [ "$status" -eq 2 ]
    says "there is no file none.csv"
    N=2^11 run profiles/measure/compare.sh
    [ "$status" -ne 0 ]
    says "has no such scan"
}

@test "wrong use" {
    need python3
    A=3 run profiles/measure/compare.sh
    [ "$status" -eq 2 ]
    says "make compare A=3 B=4"
    A=3 B=4:pad64 run profiles/measure/compare.sh
    [ "$status" -ne 0 ]
    says '"pad64" is unknown'
    A=3 B=99 run profiles/measure/compare.sh
    [ "$status" -ne 0 ]
    says "there is no ./step99"
    A=3 B=4 N=1000 run profiles/measure/compare.sh
    [ "$status" -ne 0 ]
    says "not a power of two"
}

@test "a profile is a table: a header, totals of launches, and lines of the source" {
    need python3
    N=1024 VARIANT=pad16 DEVICE=emu run profiles/measure/profile.sh 4
    [ "$status" -eq 0 ]
    says "profile: build/profiles/emu/step04-pad16-1024.csv"
    run cat build/profiles/emu/step04-pad16-1024.csv
    says "
step,variant,n,kernel,launch,line,source,"
    says ",smsp__sass_thread_inst_executed_op_fadd_pred_on.sum (inst),source_"
    says ",2046,,,,,,
"
    says "
4,pad16,1024,scan_block,0,variants.cu#1,temp[bi] += temp[ai];,"
    says ",source_wavefronts_ld,source_ideal_ld"
}

@test "a failed scan leaves no profile" {
    need python3
    rm -f build/profiles/emu/step03-100.csv
    N=100 DEVICE=emu run profiles/measure/profile.sh 3
    [ "$status" -ne 0 ]
    says "not a power of two"
    ! ls build/profiles/emu/step03-100.csv*
}

@test "without a GPU the emulator counts" {
    need python3
    PATH=/usr/bin:/bin N=512 run profiles/measure/profile.sh 3
    [ "$status" -eq 0 ]
    says "so the emulator counts"
    PATH=/usr/bin:/bin N=512 DEVICE=cuda run profiles/measure/profile.sh 3
    [ "$status" -eq 3 ]
    says "DEVICE=emu counts without a GPU"
}

@test "counters that are reserved are explained" {
    need python3
    printf '#!/bin/sh\necho "==ERROR== ERR_NVGPUCTRPERM"\n' >"$BATS_TEST_TMPDIR/ncu"
    printf '#!/bin/sh\necho GPU\n' >"$BATS_TEST_TMPDIR/nvidia-smi"
    chmod +x "$BATS_TEST_TMPDIR"/*
    PATH=$BATS_TEST_TMPDIR:$PATH N=512 DEVICE=cuda run profiles/measure/profile.sh 3
    [ "$status" -eq 3 ]
    says "NVreg_RestrictProfilingToAdminUsers=0"
}

# A Source page as ncu prints it. head FILE FUNCTION names the file and the kernel of the page.
head() { printf '"File Path","/x/%s"\n"Function Name","%s"\n' "$1" "$2"; }
columns='"Line No","Source","Address","Source","L1 Wavefronts Shared",'
columns+='"L1 Wavefronts Shared Ideal","L2 Theoretical Sectors Global"'
# lines WAVEFRONTS: each instruction occurs twice, as in reports with several launches.
lines() {
    echo "$columns"
    echo '"42","  a = b;","-","-","7","7","7"'
    echo "\"\",\"\",\"0x10\",\"@P0 LDS R1, [R2]\",\"$1\",\"2\",\"0\""
    echo "\"\",\"\",\"0x10\",\"@P0 LDS R1, [R2]\",\"$1\",\"2\",\"0\""
    echo '"","","0x20","STG.E [R2], R1","0","0","4"'
}

@test "source pages printed twice count once" {
    need python3
    { head scan.cu "void k<1>(int)"; lines 3; lines 3; 
        head scan.cu "void k<1>(int)"; lines 5; lines 5; } \
        >"$BATS_TEST_TMPDIR/page"
    run profiles/measure/ncu_source.py 9 - 64 2 <"$BATS_TEST_TMPDIR/page"
    [ "$output" = "9,-,64,k,0,scan.cu#1,source_wavefronts_ld,3,,a = b;
9,-,64,k,0,scan.cu#1,source_ideal_ld,2,,a = b;
9,-,64,k,0,scan.cu#1,source_sectors_st,4,,a = b;
9,-,64,k,1,scan.cu#1,source_wavefronts_ld,5,,a = b;
9,-,64,k,1,scan.cu#1,source_ideal_ld,2,,a = b;
9,-,64,k,1,scan.cu#1,source_sectors_st,4,,a = b;" ]
}

# An instruction of a function in another file occurs on the page of that file and on that of the
# call.
@test "instructions on two pages count once" {
    need python3
    { head pair.cuh "k(int)"; lines 3; head scan.cu "k(int)"; lines 3; } >"$BATS_TEST_TMPDIR/page"
    run profiles/measure/ncu_source.py 9 - 64 1 <"$BATS_TEST_TMPDIR/page"
    [ "$output" = "9,-,64,k,0,pair.cuh#1,source_wavefronts_ld,3,,a = b;
9,-,64,k,0,pair.cuh#1,source_ideal_ld,2,,a = b;
9,-,64,k,0,pair.cuh#1,source_sectors_st,4,,a = b;" ]
}

# Lines are named by their text, and equal lines by their order. So comments above them may change.
@test "equal lines are told apart by their order" {
    need python3
    { head scan.cu "k(int)"; echo "$columns"
      echo '"7","  a = b;","-","-","0","0","0"'
      echo '"8","a = b;","-","-","7","7","4"'
      echo '"","","0x20","STG.E [R2], R1","0","0","4"'; } >"$BATS_TEST_TMPDIR/page"
    run profiles/measure/ncu_source.py 9 - 64 1 <"$BATS_TEST_TMPDIR/page"
    [ "$output" = "9,-,64,k,0,scan.cu#2,source_sectors_st,4,,a = b;" ]
}
