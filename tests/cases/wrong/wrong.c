/* wrong.c — the list: a descriptor for each deliberately wrong scan. */
#include "wrong.h"

#include <string.h>

static size_t workspace(size_t n, int variant)
{
    (void)variant;
    return n * sizeof(float);
}

#define STEP(function) TYPED(function, ELEMENT_F32)

#define TYPED(function, type)                                                                      \
    {                                                                                              \
        .name = #function, .title = #function, .element = type, .scan = function,                  \
        .workspace = workspace, .default_n = 1,                                                    \
    }

/* These change step 9's result afterwards. */
extern const struct step step09;

static size_t spoiled_workspace(size_t n, int variant) { return step09.workspace(n, variant); }

#define SPOILED(function)                                                                          \
    {                                                                                              \
        .name = #function, .title = #function, .element = ELEMENT_F32, .scan = function,           \
        .depth = step_tree_depth, .workspace = spoiled_workspace, .default_n = 1,                  \
    }

const struct step wrong_control = STEP(right_scan);

/* Each of these leaves an error, which is not the scan's. */
static size_t erring_workspace(size_t n, int variant)
{
    (void)cudaSetDevice(-1);
    return spoiled_workspace(n, variant);
}

extern scan_fn step09_scan;
const struct step wrong_erring = {
    .name = "leaves_errors",
    .title = "leaves errors",
    .element = ELEMENT_F32,
    .scan = step09_scan,
    .depth = step_tree_depth,
    .workspace = erring_workspace,
    .default_n = 1,
};

#define BLOCKS  (5 * WRONG_BLOCK) /* several blocks, all of them full */
#define LARGE   100000            /* so that 256 KiB are less than the array's size */
#define REALS   .n = 1 << 16, .real = true

const struct wrong wrong_scans[] = {
    {STEP(missing_barrier), .n = WRONG_BLOCK},
    {STEP(shifted_right), .n = 1000, .cause = "left neighbour"},
    {STEP(shifted_left), .n = 1000, .cause = "right neighbour"},
    {STEP(inclusive), .n = 1000, .cause = "inclusive for exclusive"},
    {STEP(one_carry_dropped), .n = BLOCKS, .cause = "carry of block 3 dropped"},
    {STEP(one_block_sum_dropped), .n = BLOCKS, .cause = "sum of block 2 left out"},
    {STEP(all_carries_dropped), .n = BLOCKS, .cause = "carries dropped"},
    {STEP(carry_added_twice), .n = BLOCKS, .cause = "carry of block 2 added twice"},
    {STEP(swapped_neighbours), .n = 1000, .cause = "neighbours were swapped"},
    {STEP(right_for_powers_of_two), .n = 1000, .cause = "the last 488 elements were never written"},
    {STEP(last_element), .n = 1000, .cause = "only the last element"},
    {STEP(nothing_written), .n = 1000, .cause = "the output was never written"},
    {STEP(zeros), .n = 1000, .cause = "zeros"},
    {STEP(copied), .n = 1000, .cause = "copied, not scanned"},
    {STEP(nan_at_one), .n = 1000, .cause = "NaN"},
    {STEP(one_past_the_end), .n = 1000, .cause = "the output was written 1 element past its end"},
    {STEP(one_before_the_start), .n = 1000,
     .cause = "the output was written 1 element before its start"},
    {STEP(beyond_the_workspace), .n = 1000,
     .cause = "the workspace was written 1 element past its end"},
    {STEP(modifies_input), .n = 1000, .cause = "the input was modified, first at element 7"},
    {STEP(double_add), .n = 1000, .cause = "twice the sum"},
    {STEP(element_left_out), .n = 1000, .cause = "element 99 of the input was left out"},
    {STEP(wrong_order), .n = 1000},
    {STEP(errors_that_cancel), .n = 1000},
    {STEP(right_where_sampled), .n = 1000},
    {STEP(first_run_only), .n = 1000, .run = "captured graph",
     .cause = "the output was never written"},
    {STEP(wrong_in_place), .n = 1000, .in_place = true, .cause = "zeros"},
    {STEP(writes_far_away), .n = 16, .fault = "cudaErrorIllegalAddress"},
    {STEP(few_bits), .n = 256, .real = true},

    /* at a boundary */
    {STEP(first_unwritten), .n = 1000, .cause = "element 0 was never written"},
    {STEP(first_of_each_block), .n = 1000, .cause = "left neighbour"},
    {STEP(blocks_swapped), .n = BLOCKS},
    {STEP(tail_unwritten), .n = 1000, .cause = "the last 104 elements were never written"},
    {STEP(tail_without_carry), .n = 1000, .cause = "carry of block 7 dropped"},
    {STEP(index_of_8_bits), .n = 1000},
    {STEP(grid_too_small), .n = 17 * WRONG_BLOCK,
     .cause = "the last 128 elements were never written"},
    {STEP(misaligned_loads), .n = 1000, .offset = 1, .cause = "NaN"},
    {STEP(misaligned_stores), .n = 1000, .offset = 1,
     .cause = "the output was written 1 element before its start"},
    {STEP(carries_in_place), .n = BLOCKS, .in_place = true},

    /* by a type */
    {STEP(sums_in_8_bits), .n = 1000},
    {TYPED(bytes_in_8_bits, ELEMENT_I8), .n = 1000},
    {TYPED(longs_zero_extended, ELEMENT_I64), .n = 1000},
    {TYPED(doubles_in_float, ELEMENT_F64), .n = 1000, .real = true},
    {STEP(nan_skipped), .n = 1000, .special = SPECIAL_NAN},
    {STEP(infinity_clamped), .n = 1000, .special = SPECIAL_INFINITY},

    /* in memory */
    {STEP(far_past_the_end), .n = LARGE,
     .cause = "the output was written 65537 elements past its end"},
    {STEP(before_the_input), .n = 1000,
     .cause = "the input was written 1 element before its start"},
    {STEP(before_the_workspace), .n = 1000,
     .cause = "the workspace was written 1 element before its start"},
    {STEP(reads_beyond_the_input), .n = 1000, .cause = "NaN"},
    {STEP(adds_to_the_output), .n = 1000, .cause = "NaN"},
    {STEP(adds_to_the_workspace), .n = 1000, .cause = "NaN"},
    {STEP(rewrites_a_guard), .n = 1000, .checker = "Invalid __global__ write of size 4 bytes"},
    {STEP(loads_beyond_the_input), .n = 1000, .checker = "Invalid __global__ read of size 4 bytes"},

    /* in some calls */
    {STEP(in_second_call), .n = 1000, .run = "captured graph",
     .cause = "element 0 of the input was left out"},
    {STEP(in_third_call), .n = 1000, .run = "timed run 1 of 5",
     .cause = "element 0 of the input was left out"},
    {STEP(loses_fourth_race), .n = 1000, .run = "timed run 2 of 5"},
    {STEP(in_third_call_past_the_end), .n = 1000, .run = "timed run 1 of 5",
     .cause = "the output was written 1 element past its end"},
    {STEP(in_third_call_into_the_workspaces_guard), .n = 1000, .run = "timed run 1 of 5",
     .cause = "the workspace was written 1 element before its start"},
    {STEP(in_third_call_modifies_input), .n = 1000, .run = "timed run 1 of 5",
     .cause = "the input was modified, first at element 999"},
    {STEP(stale_workspace), .n = 1000, .cause = "NaN"},
    {STEP(failure_unreported), .n = 1000, .fault = "whose error the scan did not return"},
    {STEP(failure_unreported_in_third_call), .n = 1000,
     .fault = "whose error the scan did not return"},
    {STEP(failure_taken_back), .n = 1000, .cause = "the output was never written"},

    /* breaches.c */
    {STEP(on_cpu), .n = 1000, .cause = "the scan uses the default stream"},
    {STEP(on_cpu_by_host_function), .n = 1000, .cause = "the scan copies from or to the host"},
    {STEP(detour_over_host), .n = 1000, .cause = "the scan copies from or to the host"},
    {STEP(allocates), .n = 1000, .cause = "the scan allocates memory"},
    {STEP(waits_for_the_device), .n = 1000, .cause = "waits"},
    {STEP(waits_for_the_stream), .n = 1000, .cause = "waits"},
    {STEP(waits_and_hides_it), .n = 1000, .cause = "waits"},
    {STEP(in_default_stream), .n = 1000, .cause = "the scan uses the default stream"},
    {STEP(in_own_stream), .n = 1000, .cause = "the scan uses other streams"},
    {STEP(part_in_own_stream), .n = 1000, .cause = "the scan uses other streams"},
    {STEP(from_third_call_on_in_own_stream), .n = 1000, .run = "captured after the timed runs",
     .cause = "the scan uses other streams"},

    {STEP(minus_zero), .n = 1000, .cause = "-0 for 0"},
    {STEP(one_block_raised), .n = BLOCKS,
     .cause = "all are off by the same 1, from element 384 to 511"},
    {SPOILED(input_left_out), REALS, .cause = "element 32767 of the input was left out"},
    {SPOILED(block_raised), REALS, .cause = "all are off by the same"},
    {.n = 0},
};

const struct step *wrong_find(const char *name)
{
    static const struct step *const others[] = {&wrong_control, &wrong_erring};
    for (const struct wrong *w = wrong_scans; w->n; w++)
        if (strcmp(w->step.name, name) == 0) return &w->step;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i]->name, name) == 0) return others[i];
    return NULL;
}
