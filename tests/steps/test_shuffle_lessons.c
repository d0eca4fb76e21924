/*
 * test_shuffle_lessons.c — the experiments of step 9: the right ways are right in any order of the
 * lanes, and the wrong ways are caught: by the result, by another order, or by a checker.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "build/experiments/09-"

enum { SEEDS = 3, LANES = 1024 };

TestSuite(shuffle_lessons, .init = command_init, .fini = command_fini);

/* The value of a row that the last command has printed. */
static double value(const char *variant, const char *parameter, const char *metric)
{
    char wanted[200];
    double found = 0;
    snprintf(wanted, sizeof wanted, ",9,%s,%s,%s,", variant, parameter, metric);
    const char *row = strstr(output, wanted);
    cr_assert(row && sscanf(row + strlen(wanted), "%lf", &found) == 1, "no row has %s in:\n%s",
              wanted, output);
    return found;
}

/* Runs an experiment in the usual order (seed 0) or with the lanes in another order; it must
 * succeed. */
static void run_seed(const char *name, int seed)
{
    if (seed == 0)
        expect_status(0, FOLDER "%s --device emu --csv 2>&1", name);
    else
        expect_status(0, "$emu --schedule %d --log-file /dev/null " FOLDER "%s --csv 2>&1", seed,
                      name);
}

/* Lanes in lockstep hide the races of the lecture's two ways through shared memory; another order
 * of the lanes shows them. The ways with a barrier on either side of the read, and the shuffle, are
 * right in any order: otherwise the experiment itself fails. */
Test(shuffle_lessons, neighbour_exchange_is_right_in_any_order_slow)
{
    for (int seed = 0; seed <= SEEDS; seed++) {
        run_seed("neighbour", seed);
        cr_expect((value("unsafe", "float", "wrong") > 0) == (seed > 0), "seed %d", seed);
        cr_expect((value("printed", "double", "wrong") > 0) == (seed > 0), "seed %d", seed);
        cr_expect(value("syncwarp", "float: one warp", "wrong") == 0);
        cr_expect(value("shuffle", "double", "wrong") == 0);
    }
    cr_expect(value("safe", "float", "shared_bytes") == LANES * sizeof(float));
    cr_expect(value("safe", "double", "shared_bytes") == LANES * sizeof(double));
    cr_expect(value("shuffle", "double", "shared_bytes") == 0);

    run_seed("neighbour", 0);
    cr_expect(value("safe", "double", "wavefronts_ld") ==
              2 * value("safe", "float", "wavefronts_ld"));
}

/* Templates over enum way: 0 is unsafe, 1 printed. */
Test(shuffle_lessons, neighbour_exchange_under_racecheck_slow)
{
    expect_status(0, "$emu --tool racecheck " FOLDER "neighbour --csv 2>&1");
    static const char *const races[] = {"exchange<0, float>", "exchange<1, float>",
                                        "exchange<0, double>", "exchange<1, double>"};
    for (int k = 0; k < 4; k++) expect(races[k]);
    expect_not("exchange<2");
    expect_not("exchange<3");
    expect_not("exchange<4");
}

/* The experiment compares every lane with the host's sums and scans. */
Test(shuffle_lessons, reduce_is_right_in_any_order_slow)
{
    for (int seed = 0; seed <= SEEDS; seed++) run_seed("reduce", seed);
    cr_expect(value("shared", "scan", "shared_bytes") == LANES * sizeof(unsigned));
    cr_expect(value("predicate", "scan", "shared_bytes") == 0);
    expect_status(0, "$emu --tool racecheck,synccheck --error-exitcode 9 " FOLDER "reduce 2>&1");
}

/* All 64 bits arrive with two shuffles, by hand and by CUDA. */
Test(shuffle_lessons, wide_values_take_two_shuffles_slow)
{
    run_seed("wide", 0);
    cr_expect(value("halves", "double", "wrong") == 0 && value("cuda", "int64", "wrong") == 0);
}

/* The lanes' pieces are not adjacent. Copying the same number of bytes in all lanes therefore costs
 * more sectors, but fewer requests. */
Test(shuffle_lessons, votes_are_right_in_any_order_slow)
{
    for (int seed = SEEDS; seed >= 0; seed--) {
        run_seed("votes", seed);
        cr_expect(value("broadcast", "last and first voter", "wrong") == 0);
        cr_expect(value("match", "three keys", "wrong") == 0);
        cr_expect(value("match", "three keys", "atomics") == 3);
        cr_expect(value("match", "one key", "atomics") == 1);
    }
    const char *const can[] = {"copy as each can", "copy as all can"};
    cr_expect(value(can[0], "all at 16", "requests_st") == 64 / 16);
    cr_expect(value(can[1], "all at 16", "requests_st") == 64 / 16);
    cr_expect(value(can[0], "one at 8 and one at 1", "requests_st") == 64 / 16 + 64 / 8 + 64);
    cr_expect(value(can[1], "one at 8 and one at 1", "requests_st") == 64);
    cr_expect(value(can[0], "one at 8 and one at 1", "sectors_st") == 192);
    cr_expect(value(can[1], "one at 8 and one at 1", "sectors_st") == 2048);
}

/* In lockstep all masks are full, which CUDA does not guarantee. */
Test(shuffle_lessons, active_mask_is_what_happens_to_be_active_slow)
{
    for (int seed = 0; seed <= SEEDS; seed++) {
        run_seed("divergence", seed);
        cr_expect((value("example 1", "mask", "not_all") > 0) == (seed > 0), "seed %d", seed);
        cr_expect((value("example 2", "mask", "not_all") > 0) == (seed > 0), "seed %d", seed);
        cr_expect(value("ballot", "mask", "not_all") == 0, "seed %d", seed);
    }
}

/* A sum of the whole warp in both arms of an if is right, and so is a sum of only the lanes of an
 * arm. A sum that names lanes which do not arrive is wrong, and synccheck reports only this one. */
Test(shuffle_lessons, sums_in_branches_slow)
{
    for (int seed = 0; seed <= SEEDS; seed++) {
        run_seed("divergence", seed);
        cr_expect(value("both arms", "sum", "wrong") == 0, "seed %d", seed);
        cr_expect(value("own arm", "sum", "wrong") == 0, "seed %d", seed);
        cr_expect(value("one arm", "sum", "wrong") == LANES / 2, "seed %d", seed);
    }
    expect_status(0, "$emu --tool synccheck " FOLDER "divergence --csv 2>&1");
    expect("Member mask with threads that have exited\n=========     at one_arm(int*)");
    expect_not("at both_arms");
    expect_not("at own_arm");
}
