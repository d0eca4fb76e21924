/*
 * test_hazards.c — every step and variant under the emulator's four checkers, at sizes that take
 * each of its kernels; and step 12's ring when it goes round often, in several orders.
 */
#define _GNU_SOURCE
#include "command.h"
#include "common/element.h"
#include "scan_once.h"
#include "scan_once.h"
#include "steps/12-pipeline/shape.h"

#include <stdio.h>

TestSuite(hazards, .init = command_init, .fini = command_fini, .timeout = 60);

static void expect_clean(const struct step *step, int variant, size_t n)
{
    char chosen[60] = "";
    if (step->variants) snprintf(chosen, sizeof chosen, " --variant %s", step->variants[variant]);
    expect_status(0, "$emu --tool all --error-exitcode 9 ./%s%s --reps 0 --n %zu 2>&1",
                  step_program(step).name, chosen, n);
    expect("========= ERROR SUMMARY: 0 errors\n"); /* nor warnings */
}

/* One block for steps 2 to 4, several for the others; step 12 has a test of its own. */
Test(hazards, none_in_any_step)
{
    for (size_t s = 0; s < sizeof scan_steps / sizeof *scan_steps; s++) {
        const struct step *step = scan_steps[s];
        if (step->on_host || step == &step12) continue;
        size_t n = step->max_n == 0 ? 10007 : step->power_of_two ? 512 : 501;
        for (int variant = 0; variant < variant_count(step); variant++)
            expect_clean(step, variant, n);
    }
}

static void expect_clean_pipeline(enum kernel kernel)
{
    for (int variant = 0; variant < variant_count(&step12); variant++) {
        size_t sum = element_size(element_of_sum(step_for(&step12, variant).element));
        size_t n = kernel == KERNEL_SMALL    ? SMALL_MAX(sum) / 5
                   : kernel == KERNEL_DIRECT ? SMALL_MAX(sum) + 1
                                             : DIRECT_MAX_TILES * (size_t)TILE(sum) + 1;
        cr_assert_eq(kernel_for(n, sum, 90, true), kernel);
        expect_clean(&step12, variant, n);
    }
}
Test(hazards, none_in_step_12s_cluster) { expect_clean_pipeline(KERNEL_SMALL); }
Test(hazards, none_in_step_12s_tickets) { expect_clean_pipeline(KERNEL_DIRECT); }
Test(hazards, none_in_step_12s_pipeline) { expect_clean_pipeline(KERNEL_PIPELINE); }

/* ---- step 12's ring -------------------------------------------------------------------------- */

Test(hazards, none_in_the_ring)
{
    for (int seed = 0; seed < 4; seed++)
        for (int blocks = 1; blocks <= 3; blocks++) {
            expect_status(0,
                          "$emu --tool all --error-exitcode 9 --schedule %d $p/ring right %d 30"
                          " 2>&1",
                          seed, blocks);
            expect("========= ERROR SUMMARY: 0 errors\n");
            expect("\n0 of 244526 wrong\n");
        }
}

/* One lane arrives for its warp: not before the others have read, and have stored. */
Test(hazards, found_in_the_ring_without_syncwarp)
{
    static const char *const found[] = {"read it, a copy of thread (416,0,0)",
                                        "thread (257,0,0) in block (0,0,0) wrote it, thread"};
    expect_status(9, "$emu --tool racecheck --error-exitcode 9 $p/ring unsynced 1 30 2>&1");
    for (int i = 0; i < 2; i++) expect(found[i]);
}
