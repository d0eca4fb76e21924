/*
 * test_synccheck.c — emu --tool synccheck on sync.cu: each kind of error with the
 * lines that it must print, right neighbours without a finding, and the picture of a deadlock.
 */
#include "tests/support/command.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(synccheck, .init = command_init, .fini = command_fini, .timeout = 60);

/* Runs one case of sync.cu; `counts` is the end of the summary. */
static void check(const char *name, const char *counts)
{
    char summary[80];
    snprintf(summary, sizeof summary, "\n========= ERROR SUMMARY: %s\n", counts);
    expect_status(7, "$emu --tool synccheck $p/sync '%s' 7 2>&1", name);
    expect(summary);
    expect("end\n");
}

#define LINE       "\n========= "
#define IN_WARP    LINE "Barrier error detected. Divergent thread(s) in warp."
#define IN_BLOCK   LINE "Barrier error detected. Divergent thread(s) in block."
#define ARGUMENTS  LINE "Barrier error detected. Invalid arguments."
#define FIRST_LANE LINE "    by thread (0,0,0) in block (0,0,0)"
#define SECOND     LINE "    by thread (32,0,0) in block (0,0,0)"
#define ALL        "################################"

Test(synccheck, what_is_right) { check("right", "0 errors"); }

Test(synccheck, barriers_in_divergent_code)
{
    check("both arms", "2 errors");
    expect(IN_WARP LINE "    at both_arms(int*) in ");
    expect(LINE "    while others wait at another __syncthreads,");
    check("each warp", "1 error");
    expect(IN_BLOCK LINE "    at each_warp_its_own(int*) in ");
    expect(SECOND);
    expect(FIRST_LANE);
}

/* Two barriers of one source line are different barriers, whether the line is inlined twice or has
 * two calls. */
Test(synccheck, barriers_of_one_source_line)
{
    static const struct {
        const char *name, *counts, *kind;
    } cases[] = {
        {"arms of one line", "2 errors", IN_WARP},
        {"halves of one line", "2 errors", IN_WARP},
        {"warps of one line", "1 error", IN_BLOCK},
        {"loop of one line", "1 error", IN_WARP},
        {"inlined in arms", "2 errors", IN_WARP},
        {"inlined in warps", "1 error", IN_BLOCK},
        {"inlined in turn", "1 error", IN_WARP},
        {"inlined in turn in warps", "1 error", IN_BLOCK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check(cases[i].name, cases[i].counts);
        expect(cases[i].kind);
    }
}

Test(synccheck, a_thread_that_exits)
{
    check("exit", "1 error");
    expect(IN_BLOCK LINE "    at one_exits(int*, unsigned int) in ");
    expect(LINE
           "    a barrier that not all threads reach: 63 of 64 threads wait here, 1 have exited");
    expect(LINE "    block (0,0,0):" LINE "      warp 0       " ALL "  sync.cu:");
    expect("  waits at barrier 0 (63 of 64 threads)\n");
    expect(LINE "                   ...............................x  exited\n");
}

Test(synccheck, who_waits_where)
{
    check("deadlock", "1 error");
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
    expect_status(0, "$emu --log-file /dev/null $p/sync deadlock 2>&1");
    expect("emu: deadlock: lanes 0xfffffffe wait here");
    expect("\nemu:     block (0,0,0):\nemu:       warp 0       #...............................  ");
    expect_status(0, "EMU_TOOL=memcheck LD_LIBRARY_PATH=$(dirname $emu) $p/sync deadlock 2>&1");
    expect(LINE "      warp 0       #...............................  ");
    expect("ERROR SUMMARY: 2 errors"); /* and the call that returns it */
}

Test(synccheck, numbers_of_threads)
{
    check("count", "1 error");
    expect(ARGUMENTS LINE "    at named(int) in ");
    expect(LINE "    barrier 1 waits for 48 threads, which is not a multiple of 32\n");
    check("large count", "1 error");
    expect(LINE "    barrier 1 waits for 64 threads, and the block has 32\n");
    check("counts", "1 error");
    expect(ARGUMENTS);
    expect(LINE "    barrier 1 is waited for by 32 threads here and 64 elsewhere\n");
    check("more than the block", "1 error");
    expect(LINE "    barrier 1 is waited for by 96 threads here and 64 elsewhere\n");
}

/* An error that is an illegal instruction on an H200 is one without the tool, too. */
Test(synccheck, faults_without_the_tool)
{
    expect_status(0, "$emu --log-file /dev/null $p/sync count 2>&1");
    expect("emu: barrier 1 waits for 48 threads, which is not a multiple of 32, at ");
    expect_status(0, "$emu --log-file /dev/null $p/sync 'more than the block' 2>&1");
    expect("emu: barrier 1 is waited for by 96 threads here and 64 elsewhere, at ");
    expect_status(0, "$emu --tool memcheck $p/sync 'more than the block' 2>&1");
    expect("cudaErrorIllegalInstruction");
    expect_status(0, "$emu --log-file /dev/null $p/sync 'warp mask' 2>&1");
    expect("emu: lane 16 is not in its own member mask 0x0000ffff, at ");
    check("warp mask", "1 error");
    expect(ARGUMENTS);
}

Test(synccheck, member_masks)
{
    check("not a member", "1 error");
    expect(ARGUMENTS LINE "    at ballot(int*, unsigned int) in ");
    expect(LINE "    Lane 0 is not in its own member mask 0xfffffffe\n");
    check("masks", "1 error, 2 warnings"); /* lanes 16-31 go on, and exit, first */
    expect(LINE "    Lane 16 has the member mask 0xffff0000, and lane 0 0xffffffff");
    check("exited members", "0 errors, 1 warning");
    expect(LINE "    The member mask 0xffffffff names lanes 0xc0000000, which have exited");
}

/* The line belongs to the program itself, although the shuffle is inlined from a header, through
 * two functions. */
Test(synccheck, shuffles_from_lanes_that_do_not_take_part)
{
    check("shuffle", "0 errors, 1 warning");
    expect(LINE "Undefined value from a shuffle" LINE
                "    at shuffle_from_outside(int*, unsigned int)");
    expect("sync.cu:");
    expect_not("hpp");
    expect(LINE "    Lane 11 takes the value of lane 12, which does not take part");
}
