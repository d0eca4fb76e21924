/*
 * test_single_pass.c — the statements of notes/11-single-pass.md about step 11: the longest chain
 * of additions, bits that differ from run to run, no hazards, and the reason for tickets.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "tests/support/scan_once.h"
#include "steps/11-single-pass/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(single_pass, .init = command_init, .fini = command_fini, .timeout = 60);

/* ---- the bound of the error ------------------------------------------------------------------ */

/*
 * The longest chain: every tile finds the prefix of the one before, as when one host thread runs
 * block after block. The first element is 2^24, and each tile but the first holds a single 1: added
 * to 2^24 it is rounded away, so every addition of the chain has the largest possible error.
 */
Test(single_pass, the_bound_holds_for_the_longest_chain)
{
    enum { TILES = 200 };
    cr_assert(setenv("EMU_THREADS", "1", 1) == 0);
    for (int variant = TILE_2048; variant <= TILE_8192; variant++) {
        size_t tile = TILE((size_t)VECTORS(variant)), n = TILES * tile;
        float *in = calloc(n, sizeof *in), *out = malloc(n * sizeof *out);
        cr_assert(in != NULL && out != NULL);
        in[0] = 0x1p24;
        for (size_t t = 1; t < TILES; t++) in[t * tile] = 1;

        struct scan scan = {&step11, variant, n, 0, false};
        expect_right(&scan, in);
        cr_assert(scan_once(&scan, in, out) == cudaSuccess);
        double lost = 0x1p24 + (TILES - 1) - out[n - 1];
        double an_addition = 0x1p-24 * (0x1p24 + (TILES - 1)); /* has an error up to this size */
        cr_expect_eq(lost, TILES - 1, "%g are lost", lost);
        cr_expect_leq(lost, step11.depth(n, variant) * an_addition);
        cr_expect_geq(lost, 0.9 * step11.depth(n, variant) * an_addition, "the bound is loose");
        /* A bound such as that of a tree would be wrong. */
        cr_expect_gt(lost, (2 * log2((double)n) + 24) * an_addition);
        free(in);
        free(out);
    }
}

/* In a tile: across the float4, in the warp, in the totals. Then one addition per tile, and those
 * on the way down. */
Test(single_pass, depth_grows_with_the_tiles)
{
    cr_expect_eq(step11.depth(2048, TILE_2048), 3 + 5 + 5 + 1 + 3);
    cr_expect_eq(step11.depth(2049, TILE_2048), step11.depth(2048, TILE_2048) + 1);
    cr_expect_eq(step11.depth(1 << 24, TILE_2048), step11.depth(2048, TILE_2048) + (1 << 13) - 1);
    cr_expect_eq(step11.depth(1 << 24, TILE_2048), 8208);
    cr_expect_eq(step11.depth(8192, TILE_8192), step11.depth(2048, TILE_2048) + 1);
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* In a random schedule tiles look back differently. Every run is verified. How many results
 * differ? */
static int results(const char *numbers)
{
    int different;
    expect_status(0,
                  "for seed in 1 2 3 4 5 6; do EMU_SCHEDULE=$seed ./step11 --device emu --reps 0"
                  " --n 100003 %s --output $t/$seed.npy >$t/log 2>&1 || { cat $t/log; exit 1; };"
                  " done; md5sum $t/*.npy | cut -d' ' -f1 |"
                  " sort -u | wc -l",
                  numbers);
    cr_assert(sscanf(output, "%d", &different) == 1, "%s", output);
    return different;
}

Test(single_pass, real_numbers_differ_in_their_last_bits) { cr_expect_gt(results("--real"), 1); }
Test(single_pass, integers_are_always_the_same) { cr_expect_eq(results(""), 1); }

/* ---- hazards --------------------------------------------------------------------------------- */

/* ---- two words ------------------------------------------------------------------------------- */

enum { HAZARD = 9 };

static int check_two_words(const char *way, const char *options)
{
    return run("$emu --tool racecheck --error-exitcode %d %s $p/two_words %s 2>&1", HAZARD, options,
               way);
}

/* The protocol of chapter 11's box: each fence that is missing is found, the reader's on demand. */
Test(single_pass, two_words_need_two_fences)
{
    cr_expect_eq(check_two_words("right", "--strict-readers"), 0, "%s", output);
    cr_expect_eq(check_two_words("writer", ""), HAZARD, "%s", output);
    expect("Volatile and relaxed accesses order nothing");
    cr_expect_eq(check_two_words("reader", ""), 0, "%s", output);
    cr_expect_eq(check_two_words("reader", "--strict-readers"), HAZARD, "%s", output);
    expect("it takes a __threadfence() or an acquire after the read (--strict-readers)");
    expect("two_words.cu:");
}

/* A wrong protocol of strong words is no race. Only other orders show it. */
Test(single_pass, only_seeds_show_a_wrong_protocol_of_strong_words)
{
    static const char *const ways[] = {"right", "overwrites", "flag-first"};
    enum { SEEDS = 20 };
    for (int way = 0; way < 3; way++) {
        int wrong = 0;
        cr_expect_eq(check_two_words(ways[way], "--strict-readers"), 0, "%s", output);
        for (int seed = 1; seed <= SEEDS; seed++)
            wrong += run("$emu --schedule %d --log-file /dev/null $p/two_words %s 2>&1", seed,
                         ways[way]) == 1;
        cr_expect(way ? wrong > SEEDS / 2 : !wrong, "%s: %d of %d seeds", ways[way], wrong, SEEDS);
    }
}

/* ---- the ticket ------------------------------------------------------------------------------ */

#define FEW  "2000000" /* elements, in fewer tiles than an H200 holds blocks of 256 threads */
#define MANY "4000000" /* in more tiles than that */

/* Blocks may begin in any order, but the tickets that they draw are in order. */
Test(single_pass, with_a_ticket_blocks_begin_in_any_order)
{
    expect_status(0, "EMU_BLOCKS=ascending $emu --log-file /dev/null $p/ticket drawn " MANY);
    expect_status(0, "$emu --blocks descending --log-file /dev/null $p/ticket drawn " MANY);
    expect("0 of " MANY " wrong\n");
}

/* Without tickets, the blocks that fill the GPU wait for a block that does not fit on it. */
Test(single_pass, without_a_ticket_the_order_of_blocks_matters_slow)
{
    expect_status(0, "$emu --log-file /dev/null $p/ticket index " MANY);
    expect_status(0, "$emu --blocks descending --log-file /dev/null $p/ticket index " FEW);
    expect_status(
        1, "EMU_TIMEOUT=1 $emu --blocks descending --log-file /dev/null $p/ticket index " MANY
           " 2>&1");
    expect("; deadlock: the GPU is full, 1056 of 1954 blocks have begun, and all that have not "
           "ended wait in loops like this one; does one wait for a block that can begin only when "
           "another ends?, at ");
    expect("look_back.cuh:");
    expect("cudaErrorLaunchTimeout\n");
}
