/*
 * racecheck.c — hazards between threads: racecheck finds those of wrong kernels and nothing in
 * right ones.
 *
 * The kernels are those of hazards.cu, which has a corrected kernel for each wrong one. Barriers
 * and bulk copies are functions of step 12, in barrier.cuh.
 */
#include "tests/fixtures/programs/programs.h"
#include "hazards.h"
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* `kind`: text that the findings in the wrong kernels must contain; NULL: there must be no
 * finding. */
struct hazard {
    const char *kernel;
    unsigned grid, block;
    const char *kind, *advice;
};

static const char warp[] = "__syncwarp()", block[] = "__syncthreads()", blocks[] = "second launch",
                  copy[] = "No wait for that copy", cluster[] = "cluster.sync()",
                  proxy[] = "fence.proxy.async", fence[] = "is a __threadfence() missing";

static const struct hazard hazards[] = {
    {"wrong_warp_reduction", 1, 32, "WAR hazard at __shared__", warp},
    {"right_warp_reduction", 1, 32, NULL, NULL},
    {"wrong_warp_volatile", 1, 32, "RAW hazard at __shared__", warp},
    {"wrong_warp_volatile", 1, 32, "WAR hazard at __shared__", warp},
    {"wrong_neighbour_exchange", 1, 256, "WAR hazard at __shared__", warp},
    {"right_neighbour_exchange", 1, 256, NULL, NULL},
    {"wrong_shuffle_is_no_barrier", 1, 32, "RAW hazard at __shared__", warp},
    {"wrong_who_is_last", 1, 32, "WAW hazard at __global__", "chance"},
    {"right_all_say_the_same", 1, 256, NULL, NULL},
    {"right_tiles", 1, 256, NULL, NULL},
    {"wrong_tiles", 1, 256, "RAW hazard at __shared__", warp},
    {"right_coalesced_group", 1, 256, NULL, NULL},
    {"wrong_hillis_steele", 1, 256, "RAW hazard at __shared__", block},
    {"right_hillis_steele", 1, 256, NULL, NULL},
    {"wrong_up_sweep", 1, 256, "RAW hazard at __shared__", block},
    {"right_up_sweep", 1, 256, NULL, NULL},
    {"right_bytes", 1, 256, NULL, NULL},
    {"wrong_bytes", 1, 256, "RAW hazard at __shared__", warp},
    {"right_histogram", 4, 256, NULL, NULL},
    {"wrong_histogram", 4, 256, "WAW hazard at __shared__", block},
    {"right_producer_consumer", 1, 256, NULL, NULL},
    {"wrong_producer_consumer", 1, 256, "WAR hazard at __shared__", block},
    {"right_half_barrier", 1, 256, NULL, NULL},
    {"wrong_half_barrier", 1, 256, "RAW hazard at __shared__", block},
    {"right_shared_flag", 1, 64, NULL, NULL},
    {"wrong_shared_flag", 1, 64, "RAW hazard at __shared__", block},
    {"wrong_blocks_share", 4, 256, "hazard at __global__", blocks},
    {"wrong_sum", 4, 32, "WAW hazard at __global__", NULL},
    {"right_sum", 4, 256, NULL, NULL},
    {"right_chain", 20, 32, NULL, NULL},
    {"wrong_chain_without_fence", 20, 32, "RAW hazard at __global__", blocks},
    {"wrong_chain_block_fence", 20, 32, "RAW hazard at __global__", blocks},
    {"right_chain_transitive", 300, 32, NULL, NULL},
    {"right_acquire_release", 2, 32, NULL, NULL},
    {"wrong_relaxed", 2, 32, "RAW hazard at __global__", blocks},
    {"right_block_scope", 4, 32, NULL, NULL},
    {"wrong_block_scope", 4, 32, "WAW hazard at __global__", blocks},
    {"wrong_plain_flag", 4, 32, "RAW hazard at __global__", blocks},
    {"right_last_block", 8, 256, NULL, NULL},
    {"wrong_last_block", 8, 256, "RAW hazard at __global__", blocks},
    {"right_last_ticket", 8, 64, NULL, NULL},
    {"right_last_ticket_in_array", 8, 64, NULL, NULL},
    {"right_last_ticket_read", 8, 64, NULL, NULL},
    {"wrong_last_index", 8, 64, "WAW hazard at __global__", blocks},
    {"right_grid_barrier", 8, 256, NULL, NULL},
    {"wrong_grid_barrier", 8, 256, "RAW hazard at __global__", blocks},
    {"right_grid_sync", 8, 256, NULL, NULL},
    {"right_cas_loop", 4, 256, NULL, NULL},
    {"wrong_plain_sum", 1, 256, "RAW hazard at __global__", NULL},
    {"right_heap", 4, 512, NULL, NULL},
    {"right_lock", 8, 256, NULL, NULL},
    {"wrong_lock", 8, 256, "hazard at __global__", blocks},
    {"right_hint", 16, 1, NULL, NULL},
    {"wrong_maximum", 1, 32, "has read it, and writes it", NULL},
    {"wrong_checked_sum", 1, 32, "has read it, and writes it", NULL},
    {"right_two_in_turn", 2, 1, NULL, NULL},
    {"right_poll_by_call", 4, 1, NULL, NULL},
    {"right_look_back", 60, 256, NULL, NULL},
    {"right_two_words", 60, 32, NULL, NULL},
    {"wrong_two_words", 60, 32, "RAW hazard at __global__", fence},
    {"wrong_two_words_sum_first", 60, 32, "RAW hazard at __global__", fence},
    {"right_two_words_awaited", 60, 32, NULL, NULL},
    {"right_look_elsewhere", 4, 32, NULL, NULL},
    {"right_arrival", 1, 64, NULL, NULL},
    {"wrong_arrival_without_syncwarp", 1, 64, "RAW hazard at __shared__", block},
    {"wrong_arrival_without_wait", 1, 64, "hazard at __shared__", block},
    {"wrong_arrival_of_other_phase", 1, 64, "hazard at __shared__", block},
    {"right_relaxed_arrival", 1, 64, NULL, NULL},
    {"wrong_relaxed_arrival", 1, 64, "RAW hazard at __shared__", block},
    {"right_barrier_made_by_one", 1, 64, NULL, NULL},
    {"wrong_barrier_made_by_one", 1, 64, "WAW hazard at __shared__", block},
    {"wrong_store_after_arrival", 1, 64, "hazard at __shared__", block},
    {"right_bulk_copy", 1, 256, NULL, NULL},
    {"wrong_bulk_copy_without_wait", 1, 256, "hazard at __shared__", copy},
    {"wrong_bulk_copy_other_barrier", 1, 256, "RAW hazard at __shared__", copy},
    {"wrong_bulk_copy_other_phase", 1, 256, "hazard at __shared__", copy},
    {"right_one_waits_for_all", 1, 256, NULL, NULL},
    {"wrong_one_waits_for_all", 1, 256, "hazard at __shared__", NULL},
    {"right_copy_over", 1, 256, NULL, NULL},
    {"wrong_copy_over", 1, 256, "hazard at __shared__", NULL},
    {"right_ring", 1, 256, NULL, NULL},
    {"wrong_ring_given_back_early", 1, 256, "WAR hazard at __shared__", NULL},
    {"wrong_ring_without_syncwarp", 1, 256, "WAR hazard at __shared__", block},
    {"right_fence_for_copies", 1, 256, NULL, NULL},
    {"right_fence_for_all", 1, 256, NULL, NULL},
    {"wrong_no_fence_for_copies", 1, 256, "RAW hazard at __shared__", proxy},
    {"right_fence_and_arrival", 1, 256, NULL, NULL},
    {"wrong_no_fence_but_arrival", 1, 256, "RAW hazard at __shared__", proxy},
    {"right_bulk_store", 1, 256, NULL, NULL},
    {"wrong_bulk_store_read", 1, 256, "WAR hazard at __shared__", copy},
    {"wrong_bulk_store_written", 1, 256, "RAW hazard at __global__", copy},
    {"right_copy_groups", 1, 256, NULL, NULL},
    {"wrong_copy_groups_too_early", 1, 256, "RAW hazard at __shared__", copy},
    {"wrong_copy_groups_no_barrier", 1, 256, "hazard at __shared__", NULL},
    {"right_copies_arrive", 1, 256, NULL, NULL},
    {"wrong_copies_arrive", 1, 256, "RAW hazard at __shared__", copy},
    {"right_one_stage", 2, 32, NULL, NULL},
    {"right_one_stage", 2, 64, NULL, NULL},
    {"right_one_stage", 2, 96, NULL, NULL},
    {"right_one_stage", 2, 128, NULL, NULL},
    {"right_two_stages", 2, 32, NULL, NULL},
    {"right_two_stages", 2, 64, NULL, NULL},
    {"right_two_stages", 2, 96, NULL, NULL},
    {"right_two_stages", 2, 128, NULL, NULL},
    {"right_three_stages", 2, 32, NULL, NULL},
    {"right_three_stages", 2, 64, NULL, NULL},
    {"right_three_stages", 2, 96, NULL, NULL},
    {"right_three_stages", 2, 128, NULL, NULL},
    {"right_roles", 1, 128, NULL, NULL},
    {"wrong_roles", 1, 128, "hazard at __shared__", NULL},
    {"right_cluster", 4, 256, NULL, NULL},
    {"wrong_cluster_without_wait", 4, 256, "hazard at __shared__", cluster},
    {"wrong_cluster_relaxed", 4, 256, "RAW hazard at __shared__", cluster},
    {"right_remote_arrival", 4, 256, NULL, NULL},
    {"wrong_remote_arrival", 4, 256, "hazard at __shared__", cluster},
    {"wrong_remote_barrier", 4, 256, "WAW hazard at __shared__", cluster},
};

static bool is_found(struct emu *emu, const struct hazard *h, const char *advice)
{
    for (size_t i = 0; i < emu_findings(emu); i++) {
        const struct emu_finding *f = emu_finding(emu, i);
        if (f->tool == EMU_CHECK_RACE && strstr(f->detail, h->kind) &&
            (!advice || strstr(f->detail, advice)) && strstr(f->head, h->kernel) &&
            (strstr(f->head, "hazards.cu:") || strstr(f->head, "barrier.cuh:")))
            return true;
    }
    return false;
}

static void expect_hazard(const struct hazard *h, uint64_t schedule)
{
    struct emu *emu = open_emu_with(
        &(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE, .schedule = schedule});
    int e = hazards_run(emu, h->kernel, h->grid, h->block);
    cr_assert(!e, "%s: error %d: %s", h->kernel, e, emu_message(emu));
    size_t count = emu_findings(emu);
    const struct emu_finding *first = emu_finding(emu, 0);
    if (h->kind)
        cr_expect(is_found(emu, h, schedule ? NULL : h->advice),
                  "%s: no %s; the first of %zu findings: %s\n%s", h->kernel, h->kind, count,
                  first ? first->head : "-", first ? first->detail : "-");
    else
        cr_expect(count == 0, "%s: seed %llu: %zu findings, the first: %s [%llu]\n%s", h->kernel,
                  (unsigned long long)schedule, count, first->head,
                  (unsigned long long)first->count, first->detail);
    emu_close(emu);
}

Test(racecheck, finds_hazards_and_invents_none, .timeout = 60)
{
    for (size_t i = 0; i < sizeof hazards / sizeof *hazards; i++) expect_hazard(&hazards[i], 0);
}

/* The findings do not depend on the order in which threads run. */
Test(racecheck, finds_the_same_in_any_order, .timeout = 60)
{
    for (size_t i = 0; i < sizeof hazards / sizeof *hazards; i++)
        for (uint64_t seed = 1; seed <= 10; seed++) expect_hazard(&hazards[i], seed);
}

/* Lanes `first` and `second` load one word, and then `writer` stores to it, without a barrier. */
static size_t hazards_after_reads(int first, int second, int writer)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = ptx_kernel("sub.u64 %%in, %%in, %%offset;\n"
                            "setp.eq.u32 %%p0, %%id, %d;\n@%%p0 ld.global.u32 %%r0, [%%in];\n"
                            "setp.eq.u32 %%p1, %%id, %d;\n@%%p1 ld.global.u32 %%r1, [%%in];\n"
                            "setp.eq.u32 %%p2, %%id, %d;\n@%%p2 st.global.u32 [%%in], 1;\nret;",
                            first, second, writer);
    emu_addr word = device_copy(emu, NULL, 4);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), 1, 32, 0, 2, (uint64_t[]){word, word}));
    size_t count = emu_findings(emu);
    if (count) cr_expect(strstr(emu_finding(emu, 0)->detail, "WAR hazard at __global__"));
    free(text);
    emu_close(emu);
    return count;
}

/* A store is compared with each recorded load, for loads of the same thread before or after the
 * others. */
Test(racecheck, a_store_after_loads_of_two_lanes)
{
    for (int other = 1; other < 32; other++) {
        cr_expect_eq(hazards_after_reads(0, other, 0), 1, "lane %d loads last", other);
        cr_expect_eq(hazards_after_reads(other, 0, 0), 1, "lane %d loads first", other);
        cr_expect_geq(hazards_after_reads(other, 0, other == 1 ? 2 : 1), 1, "both are others");
    }
    cr_expect_eq(hazards_after_reads(0, 0, 0), 0, "its own loads are no hazard");
}
