/*
 * test_hazards.c — every step and variant under the emulator's four checkers, at sizes that take
 * each of its kernels; and step 12's ring when it goes round often, in several orders.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "common/step/element.h"
#include "tests/support/scan_once.h"
#include "steps/12-pipeline/parts/shape.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(hazards, .init = command_init, .fini = command_fini, .timeout = 600);

static void expect_clean(const struct step *step, int variant, size_t n)
{
    char chosen[60] = "";
    if (step->variants) snprintf(chosen, sizeof chosen, " --variant %s", step->variants[variant]);
    expect_status(0, "$emu --tool all --error-exitcode 9 ./%s%s --reps 0 --n %zu 2>&1",
                  step_program(step).name, chosen, n);
    expect("========= ERROR SUMMARY: 0 errors\n"); /* and no warnings */
}

/* One block for steps 2 to 4, several for the others; step 12 has its own test. */
static void expect_clean_step(const struct step *step)
{
    size_t n = step->max_n == 0 ? 10007 : step->power_of_two ? 512 : 501;
    for (int variant = 0; variant < variant_count(step); variant++) expect_clean(step, variant, n);
}

#define HAZARDS_OF(k)                                                                              \
    Test(step_##k, no_hazards, .init = command_init, .fini = command_fini, .timeout = 600)         \
    {                                                                                              \
        expect_clean_step(scan_step(k));                                                           \
    }
HAZARDS_OF(2)
HAZARDS_OF(3)
HAZARDS_OF(4)
HAZARDS_OF(5)
HAZARDS_OF(6)
HAZARDS_OF(7)
HAZARDS_OF(8)
HAZARDS_OF(9)
HAZARDS_OF(10)
HAZARDS_OF(11)

/* Steps 12 to 16 with their defaults; their other types and operators have slow tests. */
Test(hazards, none_in_steps_12_to_16)
{
    static const int sizes[] = {1025, 16384};
    for (int step = 12; step <= 16; step++)
        for (int i = 0; i < 2; i++) {
            expect_status(0, "$emu --tool all --error-exitcode 9 ./step%d --reps 0 --n %d 2>&1",
                          step, sizes[i]);
            expect("========= ERROR SUMMARY: 0 errors\n");
        }
}

/* Step 12's kernel for small and medium n: with fine, medium and coarse tiles. */
Test(hazards, none_in_step_12_slow)
{
    for (int variant = 0; variant < variant_count(&step12); variant++) {
        size_t sum = element_size(element_of_sum(step_element(&step12, variant)));
        const size_t sizes[] = {TILE(sum) - 1, 12 * (size_t)TILE(sum), 65 * (size_t)TILE(sum)};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            cr_assert_eq(kernel_for(sizes[i], sum, 90, true), KERNEL_WAVE);
            expect_clean(&step12, variant, sizes[i]);
        }
    }
}

/* Step 12's kernels for large n, of doubles: on an H200, and on an A100, which has less shared
 * memory than scan_onchip needs to hold its sums, and no scan_pipeline. */
static void expect_clean_kernel(enum kernel kernel, size_t n)
{
    cr_assert_eq(kernel_for(n, sizeof(double), 90, true), kernel);
    cr_assert_str_eq(step12.variants[1], "f64");
    expect_clean(&step12, 1, n);
    setenv("EMU_GPU", "a100", 1);
    expect_clean(&step12, 1, n);
}

Test(hazards, none_on_the_chip_slow)
{
    expect_clean_kernel(KERNEL_ONCHIP, WAVE_MAX(sizeof(double)) + 1);
}

Test(hazards, none_in_step_12s_pipeline_slow)
{
    expect_clean_kernel(KERNEL_PIPELINE, ONCHIP_MAX(sizeof(double)) + 1);
}

/* Step 16's columns: 219 tiles for 108 blocks, so that a block has tiles in several rounds, and 13
 * windows. */
Test(hazards, none_in_columns_slow)
{
    for (int schedule = 1; schedule <= 3; schedule++) {
        expect_status(0,
                      "$emu --gpu a100 --tool racecheck --error-exitcode 9 --schedule %d ./step16"
                      " --op sum --type f64 --shape 28000x32 --along 0 --reps 0 2>&1",
                      schedule);
        expect("right: every element, exactly");
        expect(" 0 hazards displayed ");
    }
}

/* ---- step 12's ring -------------------------------------------------------------------------- */

Test(hazards, none_in_the_ring_slow)
{
    for (int variant = 0; variant < variant_count(&step12); variant++)
        for (int blocks = 1; blocks <= 3; blocks++) {
            expect_status(0,
                          "$emu --tool all --strict-readers --error-exitcode 9 --schedule %d"
                          " $p/ring right %s %d 30 2>&1",
                          variant, step12.variants[variant], blocks);
            expect("========= ERROR SUMMARY: 0 errors\n");
            expect("\n0 of ");
        }
}

/* One lane arrives for its warp, and does not wait until the others have read and stored. */
Test(hazards, found_in_the_ring_where_one_lane_arrives)
{
    static const char *const found[] = {"read it, a copy of thread (416,0,0)",
                                        "thread (257,0,0) in block (0,0,0) wrote it, thread"};
    expect_status(9, "$emu --tool racecheck --error-exitcode 9 $p/ring by-one-lane f32 1 30 2>&1");
    for (int i = 0; i < 2; i++) expect(found[i]);
}
