/*
 * schedule.c — random scheduling: a seed repeats a run, shows the effects of races, and does not
 * change the results of kernels without races.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "hazards.h"
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256, SEEDS = 40 };
static int data[HAZARD_WORDS], flags[HAZARD_WORDS], want[HAZARD_WORDS], want_flags[HAZARD_WORDS];

static void run(const char *kernel, unsigned grid, unsigned block, uint64_t seed)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .threads = 1, .schedule = seed});
    int e = hazards_result(emu, kernel, grid, block, data, flags);
    cr_assert(!e, "%s: seed %llu: error %d: %s", kernel, (unsigned long long)seed, e,
              emu_message(emu));
    emu_close(emu);
}

static char *trace_of(const char *kernel, unsigned grid, unsigned block, uint64_t seed)
{
    char *text;
    size_t size;
    FILE *trace = open_memstream(&text, &size);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .trace = trace, .schedule = seed});
    cr_assert(!hazards_run(emu, kernel, grid, block), "%s", emu_message(emu));
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
    static const char *const kernels[] = {"right_hillis_steele", "wrong_hillis_steele", "wrong_sum",
                                          "right_lock"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char *first = trace_of(kernels[i], 4, BLOCK, 7), *again = trace_of(kernels[i], 4, BLOCK, 7),
             *other = trace_of(kernels[i], 4, BLOCK, 8);
        cr_expect(!strcmp(first, again), "%s: seed 7 does not repeat", kernels[i]);
        cr_expect(strcmp(first, other), "%s: seeds 7 and 8 do the same", kernels[i]);
        free(first), free(again), free(other);
    }
}

/* Kernels with races that are right in the emulator's usual order by chance, or because lanes run
 * in lockstep. */
Test(schedule, some_seed_shows_a_race, .timeout = 60)
{
    static const struct {
        const char *kernel;
        unsigned grid, block;
    } wrong[] = {{"wrong_hillis_steele", 1, BLOCK},
                 {"wrong_warp_volatile", 1, 32},
                 {"wrong_warp_reduction", 1, 32},
                 {"wrong_neighbour_exchange", 1, BLOCK},
                 {"wrong_up_sweep", 1, BLOCK},
                 {"wrong_blocks_share", 4, BLOCK},
                 {"wrong_sum", 4, 32},
                 {"wrong_bytes", 1, BLOCK},
                 {"wrong_tiles", 1, BLOCK},
                 {"wrong_half_barrier", 1, BLOCK},
                 {"wrong_plain_flag", 4, 32},
                 {"wrong_producer_consumer", 1, BLOCK},
                 {"wrong_histogram", 4, BLOCK}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned differ = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            run(wrong[i].kernel, wrong[i].grid, wrong[i].block, seed);
            if (seed == 1) {
                memcpy(want, data, sizeof want);
                memcpy(want_flags, flags, sizeof want_flags);
            }
            differ += memcmp(want, data, sizeof want) || memcmp(want_flags, flags, sizeof flags);
        }
        cr_expect(differ, "%s: all of %d seeds give one result", wrong[i].kernel, SEEDS);
    }
}

Test(schedule, right_kernels_stay_right, .timeout = 60)
{
    static const struct {
        const char *kernel;
        unsigned grid, block;
    } right[] = {{"right_warp_reduction", 1, 32},
                 {"right_neighbour_exchange", 1, BLOCK},
                 {"right_tiles", 1, BLOCK},
                 {"right_hillis_steele", 1, BLOCK},
                 {"right_up_sweep", 1, BLOCK},
                 {"right_histogram", 4, BLOCK},
                 {"right_half_barrier", 1, BLOCK},
                 {"right_producer_consumer", 1, BLOCK},
                 {"right_shared_flag", 1, 64},
                 {"right_sum", 4, BLOCK},
                 {"right_chain", 20, 32},
                 {"right_acquire_release", 2, 32},
                 {"right_last_block", 8, BLOCK},
                 {"right_grid_barrier", 8, BLOCK},
                 {"right_lock", 8, BLOCK},
                 {"right_look_back", 20, BLOCK},
                 {"right_chain_transitive", 100, 32},
                 {"right_bytes", 1, BLOCK}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        run(right[i].kernel, right[i].grid, right[i].block, 0);
        memcpy(want, data, sizeof want);
        memcpy(want_flags, flags, sizeof want_flags);
        for (uint64_t seed = 1; seed <= SEEDS / 2; seed++) {
            run(right[i].kernel, right[i].grid, right[i].block, seed);
            cr_expect(!memcmp(want, data, sizeof data), "%s: seed %llu", right[i].kernel,
                      (unsigned long long)seed);
        }
    }
}
