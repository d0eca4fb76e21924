#!/usr/bin/env bats
# compare.bats — `make compare` and `make profileN`: the output and the files of
# profiles/measure/compare.py without a GPU, and its messages when ncu cannot be used.
# bats file_tags=slow
load common

setup() { need python3; }

@test "two steps" {
    A=3 B=4:pad16 LINES=1 run -0 profiles/measure/compare.py
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
    run -0 profiles/measure/compare.py
    says $'\n7  '
    # ptxas needs fewer additions in step 9: tests/unit/steps/test_recorded.c explains them.
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
    recording a.csv "NVIDIA X" 4
    recording b.csv "NVIDIA Y" 6
    export A=$BATS_TEST_TMPDIR/a.csv B=$BATS_TEST_TMPDIR/b.csv
    run -0 profiles/measure/compare.py
    says "a.csv, X 2026-01-04
B: "
    says "step 4 pad16  512  bank conflicts, loads   4   6   1.50"
    says "step 4 pad16  512  wavefronts, loads      14  16   1.14"
    says "3 scans are in both; of 12 numbers 10 are equal."

    STEPS=4 LINES=1 run -0 profiles/measure/compare.py
    says "X 2026-01-04  Y 2026-01-06"
    says "bank conflicts, loads              4             6   1.50"
    says "k            14          4            16          6  t[i] += 1;"

    A=none.csv B=4 run -2 profiles/measure/compare.py
    says "there is no file none.csv"
    N=2^11 run ! profiles/measure/compare.py
    says "has no such scan"
}

@test "wrong use" {
    A=3 run -2 profiles/measure/compare.py
    says "make compare A=3 B=4"
    A=3 B=4:pad64 run ! profiles/measure/compare.py
    says '"pad64" is unknown'
    A=3 B=99 run ! profiles/measure/compare.py
    says "there is no ./step99"
    A=3 B=4 N=1000 run ! profiles/measure/compare.py
    says "not a power of two"
}

@test "a profile is a table: a header, totals of launches, and lines of the source" {
    N=1024 VARIANT=pad16 DEVICE=emu run -0 profiles/measure/compare.py profile 4
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

@test "without a GPU the emulator counts" {
    PATH=/usr/bin:/bin N=512 run -0 profiles/measure/compare.py profile 3
    says "so the emulator counts"
    PATH=/usr/bin:/bin N=512 DEVICE=cuda run -3 profiles/measure/compare.py profile 3
    says "DEVICE=emu counts without a GPU"
}

@test "counters that are reserved are explained" {
    printf '#!/bin/sh\necho "==ERROR== ERR_NVGPUCTRPERM"\n' >"$BATS_TEST_TMPDIR/ncu"
    printf '#!/bin/sh\necho GPU\n' >"$BATS_TEST_TMPDIR/nvidia-smi"
    chmod +x "$BATS_TEST_TMPDIR"/*
    PATH=$BATS_TEST_TMPDIR:$PATH N=512 DEVICE=cuda run -3 profiles/measure/compare.py profile 3
    says "NVreg_RestrictProfilingToAdminUsers=0"
}
