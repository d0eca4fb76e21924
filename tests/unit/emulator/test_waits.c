/*
 * test_waits.c — kernels that wait, and kernels that do not end.
 */
#include "tests/support/command.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- programs that do not end by themselves (endless.cu): Ctrl-C, and time limits ------------ */

TestSuite(endless, .init = command_init, .fini = command_fini, .timeout = 600);

/* Sends Ctrl-C a while after the program has begun to catch it (bit 1 of SigCgt), even on a busy
 * machine. The status is the program's. A shell makes programs in the background ignore SIGINT;
 * `env` undoes that. */
#define INTERRUPT(program)                                                                         \
    "env --default-signal=INT " program " 2>&1 & "                                                 \
    "while kill -0 $! && ! grep -q 'SigCgt:.*[2367abef]$' /proc/$!/status; do sleep 0.05; done; "  \
    "sleep 0.5; kill -INT $!; wait $!"

/* The output of the program and the counters so far are not lost. A handler of the program's own
 * stays. */
Test(endless, ctrl_c_says_where_it_was)
{
    RUNS({130, INTERRUPT("$emu --csv $p/endless count"),
          {"begun\n", "emu: interrupted, at ", "endless.cu:33 (PTX line ",
           " in kernel count, block (0,0,0), thread (0,0,0)\n", "\"twice\"", "\"count\""}},
         {130, INTERRUPT("$emu $p/endless host"),
          {"emu: interrupted; no kernel was running\n",
           "] endless: 1 launch on an emulated"}},
         {130, INTERRUPT("LD_LIBRARY_PATH=$(dirname $emu) $p/endless blocks"),
          {"emu: interrupted, ", " kernel twice", "!emulated: "}}, /* no report was asked for */
         {7, INTERRUPT("$emu $p/endless handler"), {"!interrupted"}});
}

/* A signal that the shell has made a background process ignore stays ignored. */
Test(endless, an_ignored_signal_stays_ignored)
{
    expect_status(1, "EMU_KERNEL_TIMEOUT=1 $emu $p/endless count 2>&1 & sleep 0.5; kill -INT $!; "
                     "wait $!");
    expect("cudaErrorLaunchTimeout\n");
    expect_not("interrupted");
}

Test(endless, a_kernel_ends_at_the_limit_slow)
{
    RUNS({1, "EMU_KERNEL_TIMEOUT=1 " QUIET "$p/endless count",
          {"emu: its grid has run for 1 seconds, and EMU_KERNEL_TIMEOUT allows no more, at ",
           "endless.cu:33", "cudaErrorLaunchTimeout\n"}},
         {1, "EMU_KERNEL_TIMEOUT=1 " QUIET "$p/endless blocks", {"cudaErrorLaunchTimeout\n"}});
    expect_status(2, "EMU_KERNEL_TIMEOUT=soon " QUIET "$p/endless count 2>&1");
    expect_one_sentence();
}

/* Whatever a loop does, it ends at a few times EMU_TIMEOUT. Kernels run one after the other. If a
 * kernel waits for another one, or for the host while the host waits for it, a message says that
 * this cannot work. */
Test(endless, a_loop_ends_too_slow)
{
    static const char one[] = "emu: kernels run one after the other here";
    RUNS({1, "EMU_TIMEOUT=1 timeout 30 " QUIET "$p/endless count", {"EMU_TIMEOUT"}},
         {1, "EMU_TIMEOUT=1 timeout 30 " QUIET "$p/endless barrier", {"EMU_TIMEOUT"}},
         {1, "{ EMU_TIMEOUT=1 timeout 30 " QUIET "$p/endless print >/dev/null; }",
          {"EMU_TIMEOUT"}},
         {1, "EMU_TIMEOUT=1 timeout 30 " QUIET "$p/endless grid", {"EMU_TIMEOUT"}},
         {1, "EMU_TIMEOUT=1 " QUIET "$p/endless late",
          {"endless.cu:59", one, "cudaErrorLaunchTimeout\n"}},
         {1, "EMU_TIMEOUT=1 " QUIET "$p/endless streams",
          {"endless.cu:59", one, "cudaErrorLaunchTimeout\n"}});
}

/* A kernel that waits for the host is suspended, until the host waits for it. */
Test(endless, the_host_may_end_a_wait_slow)
{
    static const char *const options[] = {"--csv", "--tool memcheck,racecheck,synccheck",
                                          "--schedule 3 --tool racecheck"},
                             *const ways[] = {"flag", "copied"};
    for (int i = 0; i < 3; i++)
        for (int way = 0; way < 2; way++) {
            expect_status(0, "EMU_TIMEOUT=5 timeout 30 $emu --error-exitcode 9 %s $p/endless %s",
                          options[i], ways[way]);
            expect("cudaErrorNotReady, cudaSuccess, cudaSuccess\n");
        }
    expect_status(0, "timeout 30 $emu --csv $p/endless flag");
    expect("\"wait_for\"");
}

/* ---- kernels that wait for the host, and so are suspended ------------------------------------ */

/* Which threads wait for them, and that they are in the reports however the program ends. */

TestSuite(suspended, .init = command_init, .fini = command_fini, .timeout = 60);

/* A host thread that waits for one device's kernel does not stop another device's. No thread goes
 * on before the kernel has ended, whichever thread it ends in. */
Test(suspended, kernels_of_two_devices_and_threads_wait_for_each_other)
{
    RUNS({0, "EMU_TIMEOUT=5 timeout 30 " QUIET "--devices 2 $p/endless devices",
          {"=cudaSuccess\ncudaSuccess\n"}},
         {0, "timeout 30 " QUIET "$p/endless threads", {"=cudaSuccess, -1\ncudaSuccess, -1\n"}});
}

/* exit waits for the kernel; _exit ends it, as it ends one that runs. */
Test(suspended, what_nobody_waits_for_is_in_the_reports)
{
    static const char *const ends[] = {"return", "exit", "_exit"}, *const forms[] = {"csv", "json"};
    for (int i = 0; i < 6; i++) {
        expect_status(0, "timeout 30 $emu --%s $p/endless left %s", forms[i % 2], ends[i / 2]);
        expect("\"work\"");
    }
}

Test(suspended, a_wait_without_an_end_is_told_at_the_end_slow)
{
    RUNS({9,
          "EMU_TIMEOUT=1 timeout 30 $emu --tool memcheck --error-exitcode 9 $p/endless left never",
          {"deadlock: all blocks that have not ended wait in loops like this one",
           "endless.cu:134", "ERROR SUMMARY: 1 error"}});
}

/* ---- blocks that wait for each other --------------------------------------------------------- */

/* Right programs end with any number of host threads (waits.cu). Programs that would never end are
 * ended by each limit; the message names the place, and it is an error under every tool. */

TestSuite(waits, .init = command_init, .fini = command_fini, .timeout = 600);

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const unsigned threads[] = {1, 2, 8};

/* `make test-nightly` runs all of the cases, `make test-all` the most important ones. */
static bool all_wanted(void) { return getenv("TEST_NIGHTLY") != NULL; }

/* How a thread polls, and what else its loop does. `quick`: the one way of its kind that `make
 * test-all` runs, too. */
static const struct {
    const char *name;
    bool quick;
} ways[] = {
    {"add-barrier", true},   {"cas-barrier", false},      {"or-barrier", false},
    {"plain-barrier", true}, {"volatile-barrier", false}, {"add-named", false},
    {"plain-named", false},  {"cas-warp", false},         {"plain-warp", false},
    {"add-shuffle", false},  {"plain-shuffle", false},    {"add-sleep", false},
    {"plain-sleep", false},  {"volatile-sleep", true},    {"add-object", false},
    {"plain-object", true},  {"add-vote", false},         {"plain-vote", false},
    {"add-nothing", false},  {"plain-nothing", false},    {"volatile-counted", false},
    {"add-cluster", false},  {"plain-cluster", true},     {"plain-counted", true},
};

/* ---- right ----------------------------------------------------------------------------------- */

Test(waits, blocks_meet_whatever_their_loops_do_slow)
{
    for (size_t k = 0; k < COUNT(ways); k++)
        for (size_t t = 0; t < COUNT(threads); t++) {
            expect_status(0, "EMU_THREADS=%u EMU_TIMEOUT=20 LD_LIBRARY_PATH=$(dirname $emu)"
                             " $p/waits meet %s 2>&1", threads[t], ways[k].name);
            expect("cudaSuccess\n");
        }
}

/* More blocks than there are host threads, and fewer than the GPU holds. */
Test(waits, many_blocks_meet)
{
    static const char *const some[] = {"add-barrier", "plain-barrier", "plain-cluster", "add-vote"};
    for (size_t k = 0; k < COUNT(some); k++) {
        expect_status(0, QUIET "$p/waits meet %s 100 2>&1", some[k]);
        expect("cudaSuccess\n");
    }
}

/* A block that changes memory may run for longer than the time limit, and others may wait for
 * it. */
Test(waits, slow_is_not_stuck_slow)
{
    static const char *const slow[] = {"shared", "fill", "volatile", "plain"};
    for (size_t k = 0; k < COUNT(slow); k++)
        for (size_t t = 0; t < COUNT(threads); t++) {
            if (threads[t] != 2 && !all_wanted()) continue;
            expect_status(0, "EMU_THREADS=%u EMU_TIMEOUT=1 " QUIET "$p/waits slow %s 2>&1",
                          threads[t], slow[k]);
            expect("cudaSuccess\n");
        }
}

/* ---- endless --------------------------------------------------------------------------------- */

Test(waits, patience_ends_every_loop_slow)
{
    for (size_t k = 0; k < COUNT(ways); k++)
        for (size_t t = 0; t < COUNT(threads); t++) {
            if (!all_wanted() && (!ways[k].quick || threads[t] != 1 + k % 2)) continue;
            expect_status(0, "EMU_THREADS=%u EMU_TIMEOUT=1 " QUIET "$p/waits never %s 2 2>&1",
                          threads[t], ways[k].name);
            expect("waits.cu:");
            expect(" in kernel never, block (");
            expect("\nemu:       warp"); /* and the place of each warp */
            expect("cudaErrorLaunchTimeout\n");
        }
}

/* Blocks that repeat their states are not given all of the time if only the grid could help them,
 * and how long the others will take is not guessed from those that have ended. */
Test(waits, what_only_the_grid_could_end_is_told_soon_slow)
{
    static const char *const cases[] = {"lost grid", "lost grid 3 mapped", "lost flag 3",
                                       "lost flag 3 mapped"};
    for (size_t k = 0; k < COUNT(cases); k++) {
        expect_status(0, "EMU_TIMEOUT=9999 EMU_PROGRESS=1 timeout 300 " QUIET "$p/waits %s 2>&1",
                      cases[k]);
        expect("emu: this loop does not end: its condition may never change; deadlock: all blocks "
               "that have not ended wait in loops like this one");
        expect(" have begun;");
        expect_not(" are left");
    }
}

/* Many blocks do not take longer until the time limit ends them, if they repeat the same states. */
Test(waits, patience_is_that_of_all_blocks_slow)
{
    RUNS({0, "EMU_TIMEOUT=1 timeout 40 " QUIET "$p/waits never plain-barrier 400",
          {"emu: this loop does not end: its condition may never change; deadlock: all blocks ",
           "waits.cu:"}});
}

Test(waits, a_kernels_limit_ends_every_loop_slow)
{
    for (size_t k = 0; k < COUNT(ways); k++) {
        if (!all_wanted() && k > 1) continue;
        expect_status(0, "EMU_THREADS=1 EMU_KERNEL_TIMEOUT=1 " QUIET "$p/waits never %s 2>&1",
                      ways[k].name);
        expect("emu: its grid has run for 1 seconds, and EMU_KERNEL_TIMEOUT allows no more, at ");
        expect("waits.cu:");
        expect("cudaErrorLaunchTimeout\n");
    }
}

Test(waits, ctrl_c_names_the_place_slow)
{
    for (size_t k = 0; k < COUNT(ways); k++) {
        if (!ways[k].quick && !all_wanted()) continue;
        expect_status(130, INTERRUPT("EMU_THREADS=2 " QUIET "$p/waits never %s"),
                      ways[k].name);
        expect("emu: interrupted, at ");
        expect("waits.cu:");
    }
}

/* ---- findings of the tools ------------------------------------------------------------------- */

static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck", "all"};

/* What the pairs deadlock-* do not show. `kind`: the finding's first line, or a part of it.
 * `waits`: the run takes until the time limit is over. */
static const struct {
    const char *way, *kind;
    bool waits;
} lost[] = {
    {"grid", "========= Endless wait or loop detected.\n", true},
    {"flag", "========= Endless wait or loop detected.\n", true},
    {"cluster", "of the cluster's 128 threads have arrived at barrier.cluster", false},
};

static void expect_error(size_t k, const char *tool, unsigned host_threads)
{
    char place[80];
    expect_status(9,
                  "EMU_THREADS=%u EMU_TIMEOUT=1 $emu --tool %s --error-exitcode 9 $p/waits lost"
                  " %s 2>&1",
                  host_threads, tool, lost[k].way);
    snprintf(place, sizeof place, "\n=========     at lost_%s(unsigned int*, unsigned int*) in ",
             lost[k].way);
    expect(lost[k].kind);
    expect(place);
    expect(strcmp(tool, "racecheck") == 0
               ? "\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
                 "========= ERROR SUMMARY: 1 error\n"
           : strcmp(tool, "initcheck") == 0 || strcmp(tool, "synccheck") == 0
               ? "\n========= ERROR SUMMARY: 1 error\n"
               : "\n========= ERROR SUMMARY: 2 errors\n"); /* and the call that returns it */
}

Test(waits, a_deadlock_is_an_error_for_every_tool_slow)
{
    for (size_t k = 0; k < COUNT(lost); k++)
        for (size_t tool = 0; tool < COUNT(tools); tool++)
            for (size_t t = 0; t < COUNT(threads); t++)
                if (all_wanted() || (lost[k].waits ? k == tool && t == k % 3 : t == tool % 3))
                    expect_error(k, tools[tool], threads[t]);
}

/* Without a tool the error is the failed kernel itself. */
Test(waits, an_exit_code_without_a_tool_slow)
{
    for (size_t k = 0; k < COUNT(lost); k++)
        if (all_wanted() || !lost[k].waits || k == 0)
            expect_status(9, "EMU_TIMEOUT=1 $emu --error-exitcode 9 $p/waits lost %s 2>&1",
                          lost[k].way);
    expect_status(0, "$emu --error-exitcode 9 $p/waits meet add-barrier 2>&1");
    expect_status(0, "$emu $p/waits lost cluster 2>&1");
}
