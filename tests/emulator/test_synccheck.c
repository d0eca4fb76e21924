/*
 * test_synccheck.c — the reports of emu --tool synccheck on pairs sync-* of tests/checks: the lines
 * that each kind of error must print, and the picture of a deadlock. test_checks.c runs all pairs.
 */
#include "tests/support/command.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(synccheck, .init = command_init, .fini = command_fini, .timeout = 60);

/* Runs a version of a pair; `counts` is the end of the summary. The program goes on to its end. */
static void synccheck(const char *pair, const char *counts)
{
    char summary[80];
    snprintf(summary, sizeof summary, "\n========= ERROR SUMMARY: %s\n", counts);
    expect_status(7, "$emu --tool synccheck $pairs/sync sync-%s 7 2>&1", pair);
    expect(summary);
}

#define LINE       "\n========= "
#define IN_WARP    LINE "Barrier error detected. Divergent thread(s) in warp."
#define IN_BLOCK   LINE "Barrier error detected. Divergent thread(s) in block."
#define ARGUMENTS  LINE "Barrier error detected. Invalid arguments."
#define FIRST_LANE LINE "    by thread (0,0,0) in block (0,0,0)"
#define SECOND     LINE "    by thread (32,0,0) in block (0,0,0)"
#define ALL_SYNC   "################################"

Test(synccheck, what_is_right)
{
    static const char *const right[] = {"arms",     "roles",  "line-arms", "line-loop",
                                        "unrolled", "number", "vote",      "source"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        char version[60];
        snprintf(version, sizeof version, "%s right", right[i]);
        synccheck(version, "0 errors");
    }
}

Test(synccheck, barriers_in_divergent_code)
{
    synccheck("arms wrong", "2 errors");
    expect(IN_WARP LINE "    at void sync_arms<false>(int*) in ");
    expect(LINE "    while others wait at another __syncthreads,");
    synccheck("roles wrong", "1 error");
    expect(IN_BLOCK LINE "    at void sync_roles<false>(int*) in ");
    expect(SECOND);
    expect(FIRST_LANE);
}

/* Two barriers of one source line are different barriers, whether the line is inlined twice or has
 * two calls. */
Test(synccheck, barriers_of_one_source_line)
{
    static const struct {
        const char *pair, *counts, *kind;
    } cases[] = {
        {"line-arms wrong", "2 errors", IN_WARP},
        {"line-halves wrong", "2 errors", IN_WARP},
        {"line-warps wrong", "1 error", IN_BLOCK},
        {"line-loop wrong", "1 error", IN_WARP},
        {"inlined-arms wrong", "2 errors", IN_WARP},
        {"inlined-warps wrong", "1 error", IN_BLOCK},
        {"inlined-turn wrong", "1 error", IN_WARP},
        {"inlined-turn-warps wrong", "1 error", IN_BLOCK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        synccheck(cases[i].pair, cases[i].counts);
        expect(cases[i].kind);
    }
}

Test(synccheck, a_thread_that_exits)
{
    synccheck("exit wrong", "1 error");
    expect(IN_BLOCK LINE "    at void sync_exit<false>(int const*, int*, int) in ");
    expect(
        LINE
        "    a barrier that not all threads reach: 100 of 128 threads wait here, 28 have exited");
    expect(LINE "    block (0,0,0):" LINE "      warps 0-2    " ALL_SYNC "  sync.cu:");
    expect("  waits at barrier 0 (100 of 128 threads)\n");
    expect(LINE "                   ....xxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited\n");
}

#define DEADLOCK "$pairs/sync sync-against-shuffle wrong"

Test(synccheck, who_waits_where)
{
    synccheck("against-shuffle wrong", "1 error");
    expect(IN_WARP);
    expect(LINE
           "    deadlock: lanes 0xfffffffe wait here for lanes 0x00000001 of their member mask");
    expect(LINE "      warp 0       #...............................  sync.cu:");
    expect("  waits at barrier 0 (1 of 256 threads)\n");
    expect(LINE "                   .###############################  sync.cu:");
    expect("  waits for lanes 0x00000001 of its member mask 0xffffffff\n");
    expect(LINE "      warps 1-7    "
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited\n");
}

/* The same picture without the tool, behind the sentence. */
Test(synccheck, deadlocks_without_the_tool)
{
    expect_status(0, "$emu --log-file /dev/null " DEADLOCK " 2>&1");
    expect("emu: deadlock: lanes 0xfffffffe wait here");
    expect("\nemu:     block (0,0,0):\nemu:       warp 0       #...............................  ");
    expect_status(0, "EMU_TOOL=memcheck LD_LIBRARY_PATH=$(dirname $emu) " DEADLOCK " 2>&1");
    expect(LINE "      warp 0       #...............................  ");
    expect("ERROR SUMMARY: 3 errors"); /* and the calls that return it */
}

Test(synccheck, numbers_of_threads)
{
    synccheck("count wrong", "1 error");
    expect(ARGUMENTS LINE "    at meet_at_one(int*, int) in ");
    expect(LINE "    barrier 1 waits for 48 threads, which is not a multiple of 32\n");
    synccheck("count-large wrong", "1 error");
    expect(LINE "    barrier 1 waits for 64 threads, and the block has 32\n");
    synccheck("counts-fewer wrong", "1 error");
    expect(ARGUMENTS);
    expect(LINE "    barrier 1 is waited for by 32 threads here and 64 elsewhere\n");
    synccheck("counts wrong", "1 error");
    expect(LINE "    barrier 1 is waited for by 96 threads here and 64 elsewhere\n");
}

/* Runs a wrong version without synccheck. */
static void run_without(const char *options, const char *pair)
{
    expect_status(0, "$emu %s $pairs/sync sync-%s wrong 2>&1", options, pair);
}

/* An error that is an illegal instruction on an H200 is one without the tool, too. */
Test(synccheck, faults_without_the_tool)
{
    run_without("--log-file /dev/null", "count");
    expect("emu: barrier 1 waits for 48 threads, which is not a multiple of 32, at ");
    run_without("--log-file /dev/null", "counts");
    expect("emu: barrier 1 is waited for by 96 threads here and 64 elsewhere, at ");
    run_without("--tool memcheck", "counts");
    expect("cudaErrorIllegalInstruction");
    run_without("--log-file /dev/null", "mask");
    expect("emu: lane 16 is not in its own member mask 0x0000ffff, at ");
    synccheck("mask wrong", "1 error");
    expect(ARGUMENTS);
}

Test(synccheck, member_masks)
{
    synccheck("reduce wrong", "1 error");
    expect(ARGUMENTS LINE "    at void sync_reduce<false>(int*) in ");
    expect(LINE "    Lane 16 is not in its own member mask 0x0000ffff\n");
    synccheck("masks-full wrong", "1 error, 2 warnings"); /* lanes 16-31 go on, and exit, first */
    expect(LINE "    Lane 16 has the member mask 0xffff0000, and lane 0 0xffffffff");
    synccheck("shuffle wrong", "0 errors, 1 warning");
    expect(LINE "    The member mask 0xffffffff names lanes 0xffff0000, which have exited");
}

/* The line belongs to the program itself, although the shuffle is inlined from a header, through
 * two functions. */
Test(synccheck, shuffles_from_lanes_that_do_not_take_part)
{
    synccheck("source wrong", "0 errors, 1 warning");
    expect(LINE "Undefined value from a shuffle" LINE "    at void sync_source<false>(int*)");
    expect("sync.cu:");
    expect_not("hpp");
    expect(LINE "    Lane 11 takes the value of lane 12, which does not take part");
}
