/*
 * test_gpu_script.c — profiles/gpu.sh and merge.py without a GPU: stand-ins for the steps and for
 * NVIDIA's tools, in a folder of their own, and the CSV files that come of it.
 */
#define _GNU_SOURCE
#include "command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Steps 3 (one block), 10 and 12 (variants), each with one program that answers for all of them;
 * step 12 is wrong, and racecheck finds something in step 10. */
#define WITH_STAND_INS                                                                             \
    "t=$(mktemp -d); trap 'rm -rf $t' EXIT; mkdir -p $t/bin $t/common/build;"                      \
    "mkdir -p $t/steps/03-tree $t/steps/10-grid $t/steps/12-ring; cp -rL profiles $t;"             \
    "program() { cat >$t/$1; chmod +x $t/$1; };"                                                   \
    "printf '#!/bin/sh\\necho '$t | program common/build/toolkit.sh;"                              \
    "printf '#!/bin/sh\\necho release 1, V1.0\\n' | program bin/nvcc;"                             \
    "program bin/nvidia-smi <<'END'\n"                                                             \
    "#!/bin/sh\n"                                                                                  \
    "case \"$*\" in *memory.free*) echo 143000 ;; *) echo 'NVIDIA X' ;; esac\n"                    \
    "END\n"                                                                                        \
    "program bin/compute-sanitizer <<'END'\n"                                                      \
    "#!/bin/sh\n"                                                                                  \
    "case \"$2 $5\" in 'racecheck ./step10')"                                                      \
    " echo '=== RACECHECK SUMMARY: 3 hazards displayed'; exit 9 ;; esac\n"                         \
    "echo '=== ERROR SUMMARY: 0 errors'\n"                                                         \
    "END\n"                                                                                        \
    "program answer <<'END'\n"                                                                     \
    "#!/bin/sh\n"                                                                                  \
    "number=${0##*step} variant= n=\n"                                                             \
    "while [ $# -gt 0 ]; do case $1 in\n"                                                          \
    "--help) case $number in\n"                                                                    \
    "  3) echo 'Default n: 512. A power of two. At most 2048.' ;;\n"                               \
    "  *) printf 'Variants: a (default), b.\\nDefault n: 9.\\n' ;; esac; exit ;;\n"                \
    "--variant) variant=$2; shift ;; --n) n=$2; shift ;; esac; shift; done\n"                      \
    "[ $number != 12 ] || { echo 'it is wrong' >&2; exit 1; }\n"                                   \
    "printf 'step,name,variant,n\\n%s,it,%s,%s\\n' $number \"$variant\" $n\n"                      \
    "END\n"                                                                                        \
    "for n in 3 10 12; do ln -s answer $t/step$n; done; PATH=$t/bin:$PATH; cd $t || exit 99;"

Test(gpu_script, sanitizer_runs_every_step_and_variant)
{
    cr_expect(run_command(WITH_STAND_INS
                          "profiles/gpu.sh out sanitizer 2>&1; echo exit $?;"
                          "grep -v '^#' out/sanitizer.csv; wc -l <out/sanitizer.csv") == 0);
    expect("2 runs failed\nexit 1\n");
    expect("\ntool,step,variant,n,errors,exit\nmemcheck,3,-,1024,0,0\nmemcheck,10,a,65539,0,0\n"
           "memcheck,10,b,65539,0,0\nmemcheck,12,a,");
    expect("\nracecheck,10,a,65539,3,9\nracecheck,10,b,65539,3,9\nracecheck,12,a,65539,0,0\n");
    expect("\nsynccheck,12,b,65539,0,0\n26\n"); /* 5 comments, a header, 4 tools x 5 */
}

Test(gpu_script, large_leaves_out_what_fails)
{
    cr_expect(run_command(WITH_STAND_INS "profiles/gpu.sh out large 2>&1; echo exit $?;"
                                         "cat out/large.csv") == 0);
    expect("it is wrong\n");
    expect("2 runs failed\nexit 1\n");
    expect("# GPU: NVIDIA X\n");
    expect("# toolkit: 1.0\n");
    expect("\nstep,name,variant,n\n10,it,a,2^31+5\n10,it,b,2^31+5\n"); /* step 3 takes no such n */
}

Test(gpu_script, what_was_asked_for)
{
    cr_expect(run_command(WITH_STAND_INS
                          "export STEPS=10 VARIANTS=b SIZES='2^12 2^13';"
                          "profiles/gpu.sh out verify sanitizer 2>&1; cat out/*.csv") == 0);
    expect("\ntool,step,variant,n,errors,exit\nmemcheck,10,b,65539,0,0\nracecheck,10,b,65539,3,9\n"
           "initcheck,10,b,65539,0,0\nsynccheck,10,b,65539,0,0\n");
    expect("\nstep,name,variant,n\n10,it,b,2^12\n10,it,b,2^13\n");
}

/* New rows of a step and variant take the place of the old ones, others stay; all in order. */
#define HEAD(gpu, day) "# GPU: " gpu "\n# date: 2026-01-0" day "\ntool,step,variant,n\n"
#define OLD            "memcheck,9,a,1\nmemcheck,9,b,1\nmemcheck,11,a,1\nracecheck,9,a,1\n"
#define NEW            "memcheck,9,b,7\nmemcheck,10,a,7\n"
#define OTHER          "memcheck,9,b,8\n"
Test(gpu_script, merge)
{
    if (run_command("command -v python3") != 0) cr_skip("python3 is not installed");
    cr_expect(run_command("d=$(mktemp -d); echo '" HEAD("X", "1") OLD "' | sed '$d' >$d/old;"
                                                                      "echo '" HEAD("X", "2") NEW
                          "' | sed '$d' >$d/new;"
                          "echo '" HEAD("Y", "3") OTHER
                          "' | sed '$d' >$d/other;"
                          "profiles/merge.py $d/new $d/old && cat $d/old;"
                          "profiles/merge.py $d/other $d/old 2>&1; rm -r $d") == 0);
    expect("\n# date: 2026-01-02\ntool,step,variant,n\nmemcheck,9,a,1\nmemcheck,9,b,7\n"
           "memcheck,10,a,7\nmemcheck,11,a,1\nracecheck,9,a,1\n");
    expect("record all steps anew");
}
