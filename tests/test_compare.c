/*
 * test_compare.c — `make compare` and `make profileN`: what profiles/compare.sh and profile.sh print
 * and write, without a GPU, and what they say when ncu cannot be used.
 */
#define _GNU_SOURCE
#include "command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need_python(void)
{
    if (run_command("command -v python3") != 0) cr_skip("python3 is not installed");
}
TestSuite(compare, .init = need_python);

/* Programs that stand for a machine with a GPU. Used as: WITH_GPU("echo…") "command". */
#define WITH_GPU(ncu)                                                                              \
    "t=$(mktemp -d); printf '#!/bin/sh\\n%s\\n' '" ncu "' >$t/ncu;"                                \
    "printf '#!/bin/sh\\necho GPU\\n' >$t/nvidia-smi; chmod +x $t/*; PATH=$t:$PATH;"

Test(compare, two_steps)
{
    cr_assert(run_command("A=3 B=4:pad16 LINES=1 profiles/compare.sh 2>&1") == 0, "%s", output);
    expect("step 3 and step 4 pad16, n = 512");
    expect("H200, recorded");
    expect("bank conflicts, loads        375            86   0.23             375            86   "
           "0.23");
    expect("temp[bi] += temp[ai];");
}

Test(compare, all_steps_as_recorded)
{
    cr_assert(run_command("profiles/compare.sh 2>&1") == 0, "%s", output);
    expect("step 7 ");
    /* The additions that ptxas spares in step 9: recorded_differences.c explains them. */
    expect("271 520 [254 129]");
    expect("were recorded on an H200 and are equal, and ");
}

/* Two recordings: of many scans those numbers that differ, of one all. */
#define RECORDING(path, gpu, conflicts)                                                            \
    "{ echo '# GPU: " gpu "'; echo '# date: 2026-01-0" conflicts "';"                              \
    "echo step,variant,n,kernel,launch,line,metric,value,unit,source;"                             \
    "for n in 512 1024; do for m in wavefronts,7 ideal,7; do"                                      \
    " echo \"3,-,$n,k,0,scan.cu#1,source_${m%,*}_st,7,,a = b;\"; done; done;"                      \
    "echo '4,pad16,512,k,0,scan.cu#1,source_wavefronts_ld,1" conflicts ",,t[i] += 1;';"            \
    "echo '4,pad16,512,k,0,scan.cu#1,source_ideal_ld,10,,t[i] += 1;'; } >" path ";"
#define RECORDINGS RECORDING("$d/a.csv", "NVIDIA X", "4") RECORDING("$d/b.csv", "NVIDIA Y", "6")

Test(compare, two_recordings)
{
    cr_assert(run_command("d=$(mktemp -d);" RECORDINGS
                          "A=$d/a.csv B=$d/b.csv profiles/compare.sh 2>&1") == 0,
              "%s", output);
    expect("a.csv, X 2026-01-04\nB: ");
    expect("step 4 pad16  512  bank conflicts, loads   4   6   1.50\n");
    expect("step 4 pad16  512  wavefronts, loads      14  16   1.14\n");
    expect("3 scans are in both; of 12 numbers 10 are equal.");

    cr_assert(run_command("d=$(mktemp -d);" RECORDINGS
                          "A=$d/a.csv B=$d/b.csv STEPS=4 LINES=1 profiles/compare.sh 2>&1") == 0,
              "%s", output);
    expect("X 2026-01-04  Y 2026-01-06\n");
    expect("bank conflicts, loads              4             6   1.50");
    expect("k            14          4            16          6  t[i] += 1;\n");

    cr_expect(run_command("A=none.csv B=4 profiles/compare.sh 2>&1") == 2);
    expect("there is no file none.csv");
    cr_expect(run_command("d=$(mktemp -d);" RECORDINGS
                          "A=$d/a.csv B=$d/b.csv N=2^11 profiles/compare.sh 2>&1") != 0);
    expect("has no such scan");
}

Test(compare, wrong_use)
{
    cr_expect(run_command("A=3 profiles/compare.sh 2>&1") == 2);
    expect("make compare A=3 B=4");
    cr_expect(run_command("A=3 B=4:pad64 profiles/compare.sh 2>&1") != 0);
    expect("\"pad64\" is unknown");
    cr_expect(run_command("A=3 B=99 profiles/compare.sh 2>&1") != 0);
    expect("there is no ./step99");
    cr_expect(run_command("A=3 B=4 N=1000 profiles/compare.sh 2>&1") != 0);
    expect("not a power of two");
}

/* The long form: a header, totals of launches, and lines of the source. */
Test(compare, profile_writes_the_long_form)
{
    cr_assert(run_command("N=1024 VARIANT=pad16 DEVICE=emu profiles/profile.sh 4 2>&1 &&"
                          "cat build/profiles/emu/step04-pad16-1024.csv") == 0,
              "%s", output);
    expect("profile: build/profiles/emu/step04-pad16-1024.csv\n");
    expect("\nstep,variant,n,kernel,launch,line,metric,value,unit,source\n");
    expect("\n4,pad16,1024,scan_block,0,,smsp__sass_thread_inst_executed_op_fadd_pred_on.sum,2046,"
           "inst,\n");
    expect(",source_wavefronts_ld,");
    expect(",temp[bi] += temp[ai];\n");
}

Test(compare, a_failed_scan_leaves_no_profile)
{
    cr_expect(run_command("rm -f build/profiles/emu/step03-100.csv;"
                          "N=100 DEVICE=emu profiles/profile.sh 3 2>&1") != 0);
    expect("not a power of two");
    cr_expect(run_command("ls build/profiles/emu/step03-100.csv* 2>&1") != 0);
}

Test(compare, without_a_gpu_the_emulator_counts)
{
    cr_expect(run_command("PATH=/usr/bin:/bin N=512 profiles/profile.sh 3 2>&1") == 0, "%s",
              output);
    expect("so the emulator counts");
    cr_expect(run_command("PATH=/usr/bin:/bin N=512 DEVICE=cuda profiles/profile.sh 3 2>&1") == 3);
    expect("DEVICE=emu counts without a GPU");
}

Test(compare, counters_that_are_reserved_are_explained)
{
    cr_expect(
        run_command(WITH_GPU(
            "echo ==ERROR== ERR_NVGPUCTRPERM") "N=512 DEVICE=cuda profiles/profile.sh 3 2>&1") ==
        3);
    expect("NVreg_RestrictProfilingToAdminUsers=0");
}

/* Of a report with several launches ncu prints every instruction, or every page, twice. */
#define PAGE(n)                                                                                    \
    "\"Line No\",\"Source\",\"Address\",\"Source\",\"L1 Wavefronts Shared\","                      \
    "\"L1 Wavefronts Shared Ideal\",\"L2 Theoretical Sectors Global\"\\n"                          \
    "\"42\",\"  a = b;\",\"-\",\"-\",\"7\",\"7\",\"7\"\\n"                                         \
    "\"\",\"\",\"0x10\",\"@P0 LDS R1, [R2]\",\"" n "\",\"2\",\"0\"\\n"                             \
    "\"\",\"\",\"0x10\",\"@P0 LDS R1, [R2]\",\"" n "\",\"2\",\"0\"\\n"                             \
    "\"\",\"\",\"0x20\",\"STG.E [R2], R1\",\"0\",\"0\",\"4\"\\n"

Test(compare, source_pages_printed_twice_count_once)
{
    const char *head =
        "printf '\"File Path\",\"/x/scan.cu\"\\n\"Function Name\",\"void k<1>(int)\"\\n";
    char command[4096];
    snprintf(command, sizeof command,
             "{ %s" PAGE("3") PAGE("3") "'; %s" PAGE("5")
                 PAGE("5") "'; } |"
                           "profiles/ncu_source.py 9 - 64 2 2>&1",
             head, head);
    cr_assert(run_command(command) == 0, "%s", output);
    cr_expect_str_eq(output,
                     "9,-,64,k,0,scan.cu#1,source_wavefronts_ld,3,,a = b;\n"
                     "9,-,64,k,0,scan.cu#1,source_ideal_ld,2,,a = b;\n"
                     "9,-,64,k,0,scan.cu#1,source_sectors_st,4,,a = b;\n"
                     "9,-,64,k,1,scan.cu#1,source_wavefronts_ld,5,,a = b;\n"
                     "9,-,64,k,1,scan.cu#1,source_ideal_ld,2,,a = b;\n"
                     "9,-,64,k,1,scan.cu#1,source_sectors_st,4,,a = b;\n",
                     "%s", output);
}

/* An instruction of a function in another file stands on that file's page, and on that of its call. */
Test(compare, instructions_on_two_pages_count_once)
{
    const char *other = "printf '\"File Path\",\"/x/pair.cuh\"\\n\"Function Name\",\"k(int)\"\\n";
    const char *scan = "printf '\"File Path\",\"/x/scan.cu\"\\n\"Function Name\",\"k(int)\"\\n";
    char command[4096];
    snprintf(command, sizeof command,
             "{ %s" PAGE("3") "'; %s" PAGE("3") "'; } | profiles/ncu_source.py 9 - 64 1 2>&1",
             other, scan);
    cr_assert(run_command(command) == 0, "%s", output);
    cr_expect_str_eq(output,
                     "9,-,64,k,0,pair.cuh#1,source_wavefronts_ld,3,,a = b;\n"
                     "9,-,64,k,0,pair.cuh#1,source_ideal_ld,2,,a = b;\n"
                     "9,-,64,k,0,pair.cuh#1,source_sectors_st,4,,a = b;\n",
                     "%s", output);
}

/* Lines are named by their text, so that comments above them are free: equal ones by their order. */
Test(compare, equal_lines_are_told_apart_by_their_order)
{
    const char *page = "printf '\"File Path\",\"/x/scan.cu\"\\n\"Function Name\",\"k(int)\"\\n"
                       "\"Line No\",\"Source\",\"Address\",\"Source\",\"L1 Wavefronts Shared\","
                       "\"L1 Wavefronts Shared Ideal\",\"L2 Theoretical Sectors Global\"\\n"
                       "\"7\",\"  a = b;\",\"-\",\"-\",\"0\",\"0\",\"0\"\\n"
                       "\"8\",\"a = b;\",\"-\",\"-\",\"7\",\"7\",\"4\"\\n"
                       "\"\",\"\",\"0x20\",\"STG.E [R2], R1\",\"0\",\"0\",\"4\"\\n'";
    char command[2048];
    snprintf(command, sizeof command, "%s | profiles/ncu_source.py 9 - 64 1 2>&1", page);
    cr_assert(run_command(command) == 0, "%s", output);
    cr_expect_str_eq(output, "9,-,64,k,0,scan.cu#2,source_sectors_st,4,,a = b;\n", "%s", output);
}
