/*
 * warp.c — special registers, schedules, and operations of a warp.
 */
#define _GNU_SOURCE /* open_memstream */
#include "pairs.h"
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random scheduling ----------------------------------------------------------------------- */

/*
 * Random scheduling: a seed repeats a run, shows the effects of races, and does not
 * change the results of kernels without races.
 */

enum { SEEDS = 40 };
typedef int memory[PAIR_ARGUMENTS][PAIR_WORDS];

static struct pair read_pair(const char *name)
{
    struct pair pair;
    cr_assert(pair_read(&pair, name), "%s", name);
    return pair;
}

static void run(const char *name, bool right, uint64_t seed, memory result)
{
    struct pair pair = read_pair(name);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .threads = 1, .schedule = seed});
    int e = pair_result(emu, &pair, right, result);
    cr_assert(!e, "%s: seed %llu: error %d: %s", name, (unsigned long long)seed, e,
              emu_message(emu));
    emu_close(emu);
}

static char *trace_of(const char *name, bool right, uint64_t seed)
{
    char *text;
    size_t size;
    struct pair pair = read_pair(name);
    FILE *trace = open_memstream(&text, &size);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .trace = trace, .schedule = seed});
    cr_assert(!pair_run(emu, &pair, right), "%s", emu_message(emu));
    emu_close(emu);
    fclose(trace);
    return text;
}

Test(schedule, a_seed_repeats_every_access, .timeout = 30)
{
    static const struct {
        const char *name;
        bool right;
    } kernels[] = {
        {"race-scan", true}, {"race-scan", false}, {"race-blocks-sum", false}, {"race-lock", true}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char *first = trace_of(kernels[i].name, kernels[i].right, 7),
             *again = trace_of(kernels[i].name, kernels[i].right, 7),
             *other = trace_of(kernels[i].name, kernels[i].right, 8);
        cr_expect(!strcmp(first, again), "%s: seed 7 does not repeat", kernels[i].name);
        cr_expect(strcmp(first, other), "%s: seeds 7 and 8 do the same", kernels[i].name);
        free(first), free(again), free(other);
    }
}

/* Kernels with races that are right in the emulator's usual order by chance, or because lanes run
 * in lockstep. */
Test(schedule, some_seed_shows_a_race, .timeout = 60)
{
    static const char *const wrong[] = {
        "race-scan",          "race-warp",      "race-warp-values",
        "race-loop-warp",     "race-up-sweep",  "race-blocks-neighbour",
        "race-blocks-sum",    "race-bytes",     "race-tile-sum",
        "race-named",         "race-flag-load", "race-named-full",
        "race-histogram-zero"};
    static memory want, got;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned differ = 0;
        run(wrong[i], false, 1, want);
        for (uint64_t seed = 2; seed <= SEEDS; seed++) {
            run(wrong[i], false, seed, got);
            differ += memcmp(want, got, sizeof want) != 0;
        }
        cr_expect(differ, "%s: all of %d seeds give one result", wrong[i], SEEDS);
    }
}

Test(schedule, right_kernels_stay_right_slow, .timeout = 60)
{
    static const char *const right[] = {
        "race-warp-values", "race-loop-warp",      "race-tile-sum", "race-scan",
        "race-up-sweep",    "race-histogram-zero", "race-named",    "race-named-full",
        "race-flag-shared", "race-blocks-sum",     "race-chain",    "race-flag-relaxed",
        "race-last-inc",    "race-grid-fences",    "race-lock",     "race-look-back-warp",
        "race-chain-last",  "race-bytes"};
    static memory want, got;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        run(right[i], true, 0, want);
        for (uint64_t seed = 1; seed <= SEEDS / 2; seed++) {
            run(right[i], true, seed, got);
            cr_expect(!memcmp(want, got, sizeof want), "%s: seed %llu", right[i],
                      (unsigned long long)seed);
        }
    }
}
