/*
 * schedule.c — random scheduling: a seed repeats a run, shows the effects of races, and does not
 * change the results of kernels without races.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "pairs.h"
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

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

/* Blocks of one thread record the order in which they run. */
Test(schedule, blocks_run_in_order)
{
    enum { BLOCKS = 200 };
    static const char text[] =
        PTX_KERNEL("k", "sub.u64 %in, %in, %offset;\natom.global.add.u32 %r1, [%in], 1;\n"
                        "st.global.u32 [%out], %r1;\nret;");
    for (int descending = 0; descending < 2; descending++) {
        uint32_t at[BLOCKS];
        struct emu *emu = open_emu_with(
            &(struct emu_config){.memory = 64 << 20, .threads = 1, .descending = descending});
        emu_addr out = device_copy(emu, NULL, sizeof at), count = device_copy(emu, NULL, 4);
        cr_assert(
            !launch(emu, load_kernel(emu, text, "k"), BLOCKS, 1, 0, 2, (uint64_t[]){out, count}),
            "%s", emu_message(emu));
        cr_assert(!emu_read(emu, at, out, sizeof at));
        for (uint32_t b = 0; b < BLOCKS; b++)
            cr_expect_eq(at[b], descending ? BLOCKS - 1 - b : b, "block %u runs as number %u", b,
                         at[b]);
        emu_close(emu);
    }
}

/* The first blocks end at once. Each of the others waits for the next one, which the same host
 * thread may have taken together with it. */
Test(schedule, small_blocks_wait_for_later_ones, .timeout = 30)
{
    enum { BLOCKS = 300, SMALL = 100, MOST_THREADS = 3 };
    char *text = ptx_kernel("setp.lt.u32 %%p0, %%cta, %d;\n@%%p0 ret;\n"
                            "setp.eq.u32 %%p0, %%cta, %d;\n@%%p0 bra GO;\n"
                            "WAIT:\nld.volatile.global.u32 %%r1, [%%out+4];\n"
                            "setp.eq.u32 %%p0, %%r1, 0;\n@%%p0 bra WAIT;\n"
                            "GO:\nst.volatile.global.u32 [%%out], 1;\nret;",
                            SMALL, BLOCKS - 1);
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++) {
        uint32_t done[BLOCKS];
        struct emu *emu =
            open_emu_with(&(struct emu_config){.memory = 64 << 20, .threads = threads});
        uint64_t out = device_copy(emu, NULL, sizeof done);
        cr_assert(!launch(emu, load_kernel(emu, text, "k"), BLOCKS, 1, 0, 2, (uint64_t[]){out, 0}),
                  "%u threads: %s", threads, emu_message(emu));
        cr_assert(!emu_read(emu, done, out, sizeof done));
        for (uint32_t b = 0; b < BLOCKS; b++) cr_expect_eq(done[b], b >= SMALL, "block %u", b);
        emu_close(emu);
    }
    free(text);
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
