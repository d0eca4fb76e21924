#!/usr/bin/env bats
# measure.bats — profiles/measure/measure.py without a GPU: the CSV files that it writes when
# scripts in their own folder stand in for the steps and for NVIDIA's tools.
load common

# program FILE: makes an executable of standard input.
program() { cat >"$1" && chmod +x "$1"; }

# Steps 3 (one block), 10 and 12 (variants), each with one program that answers for all of them;
# step 12 is wrong, and racecheck finds something in step 10.
stand_ins() {
    need python3
    local t=$BATS_TEST_TMPDIR
    mkdir -p "$t/bin" "$t/common/build" "$t/steps/03-tree" "$t/steps/10-grid" "$t/steps/12-ring"
    cp -rL profiles "$t"
    cp common/build/step_table.py "$t/common/build"
    cp steps/steps.csv "$t/steps"
    cd "$t" || return
    printf '#!/bin/sh\necho %s\n' "$t" | program common/build/toolkit.sh
    printf '#!/bin/sh\necho release 1, V1.0\n' | program bin/nvcc
    program bin/nvidia-smi <<'END'
#!/bin/sh
case "$*" in *memory.free*) echo 143000 ;; *) echo 'NVIDIA X' ;; esac
END
    program bin/compute-sanitizer <<'END'
#!/bin/sh
case "$2 $5" in
'racecheck ./step10') echo '=== RACECHECK SUMMARY: 3 hazards displayed'; exit 9 ;;
esac
echo '=== ERROR SUMMARY: 0 errors'
END
    program answer <<'END'
#!/bin/sh
number=${0##*step} variant= n=
while [ $# -gt 0 ]; do
    case $1 in
    --help)
        case $number in
        3) echo 'Default n: 512. A power of two. At most 2048.' ;;
        *) printf 'Variants: a (default), b.\nDefault n: 9.\n' ;;
        esac
        exit
        ;;
    --variant) variant=$2; shift ;;
    --n) n=$2; shift ;;
    esac
    shift
done
[ $number != 12 ] || { echo 'it is wrong' >&2; exit 1; }
printf 'step,name,variant,n\n%s,it,%s,%s\n' $number "$variant" $n
END
    for n in 3 10 12; do ln -s answer "step$n"; done
    PATH=$t/bin:$PATH
}

@test "make bits names other bits, and fails" {
    stand_ins
    mkdir -p build/profiles
    row="1000,f32,step 12 exclusive"
    printf '#!/bin/sh\n%s\n' "echo $row,X,af60800cea910119; echo $row,Y,0; echo 7,f32,it,X,1" |
        program build/profiles/bits
    run -1 profiles/measure/bits.py
    says "af60800cea910119  the same"
    says "0  differs"
    says "1  not recorded"
    says "bits: 1 of these scans have other bits"
}

# bats test_tags=slow
@test "emulated GPUs of three generations, and ranks, give the recorded bits" {
    for gpu in t4 a100 h200; do
        EMU_GPU=$gpu run -0 profiles/measure/bits.py
        [ "$(grep -c "  the same$" <<<"$output")" -eq "${#lines[@]}" ]
    done
}

# bats test_tags=slow
@test "the sanitizer runs every step and variant, and large leaves out what fails" {
    stand_ins
    run -1 profiles/measure/measure.py --to out sanitizer
    says "2 runs failed"
    run grep -v '^#' out/sanitizer.csv
    says "step,variant,n,memcheck errors,memcheck exit,racecheck errors,racecheck exit,\
initcheck errors,initcheck exit,synccheck errors,synccheck exit
3,-,1024,0,0,0,0,0,0,0,0
10,a,65539,0,0,3,9,0,0,0,0
10,b,65539,0,0,3,9,0,0,0,0
12,a,65539,0,0,0,0,0,0,0,0
12,b,65539,0,0,0,0,0,0,0,0"
    [ "${#lines[@]}" -eq 6 ]

    run -1 profiles/measure/measure.py --to out large
    says "it is wrong"
    says "2 runs failed"
    run cat out/large.csv
    says "# GPU: NVIDIA X"
    says "# toolkit: 1.0"
    says "
step,name,variant,n
10,it,a,2^31+5
10,it,b,2^31+5" # step 3 does not take these n

    STEPS=10 VARIANTS=b SIZES='2^12 2^13' run profiles/measure/measure.py --to out verify sanitizer
    run cat out/sanitizer.csv out/verify.csv
    says "
10,b,65539,0,0,3,9,0,0,0,0
"
    says "
step,name,variant,n
10,it,b,2^12
10,it,b,2^13"
    run -1 profiles/measure/measure.py none
    says "there is no part none"
}

@test "experiments: a table for each, of those that ran" {
    stand_ins
    mkdir -p steps/03-tree/experiments build/experiments
    touch steps/03-tree/experiments/{a,b,c}.cu
    program bin/make </dev/null
    for name in a c; do
        program build/experiments/03-$name <<END
#!/bin/sh
echo experiment,step,variant,parameter,metric,value,unit
echo $name,3,x,n=1,time,0.5,s
echo $name,3,x,n=1,$name,7,
END
    done
    run -1 profiles/measure/measure.py --to out experiments
    says "build/experiments/03-b"
    run cat out/experiments.csv
    says "
experiment,step,variant,parameter,time (s),a
a,3,x,n=1,0.5,7

experiment,step,variant,parameter,time (s),c
c,3,x,n=1,0.5,7"
}

# bats test_tags=slow
@test "counters and limits: a row for each launch, and one for each source line" {
    stand_ins
    sed -i 's/ncu.METRICS_LIMITS/["time"]/; s/ncu.METRICS\b/["sum"]/' profiles/measure/gpu.py
    program bin/ncu <<'END'
#!/bin/sh
case "$*" in
*"--page source"*)
    echo '"File Path","/x/scan.cu"'
    echo '"Function Name","k"'
    echo '"Line No","Source","Address","Source","L2 Theoretical Sectors Global"'
    echo '"3","a[i] = 1;","-","-","4"'
    echo '"","","0x10","STG [R2], R1","4"'
    ;;
*) printf '"Kernel Name","sum","time"\n"","inst","ns"\n"k<1>(int)","1,024","7"\n' ;;
esac
END
    STEPS=3 SIZES='512 1024' run -0 profiles/measure/measure.py --to out counters limits
    run cat out/counters.csv
    says "
step,variant,n,kernel,launch,line,source,sum (inst),source_sectors_st
3,-,512,k,0,,,1024,
3,-,512,k,0,scan.cu#1,a[i] = 1;,,4
3,-,1024,k,0,,,1024,
3,-,1024,k,0,scan.cu#1,a[i] = 1;,,4"
    run cat out/limits.csv
    says "
step,variant,n,kernel,launch,time (ns)
13,kept10,16777216,k,0,7
13,kept10,268435456,k,0,7
15,u32,65536,k,0,7"
}
