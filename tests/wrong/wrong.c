/* wrong.c — the list: a descriptor for each deliberately wrong scan. */
#include "wrong.h"

#include "scans.h"

static double depth(size_t n, int variant)
{
    (void)variant;
    return (double)n;
}

static struct launch_shape shape(size_t n, int variant)
{
    (void)variant;
    return (struct launch_shape){
        .grid = (n + WRONG_BLOCK - 1) / WRONG_BLOCK, .block = WRONG_BLOCK, .launches = 1};
}

static size_t workspace(size_t n, int variant)
{
    (void)variant;
    return n * sizeof(float);
}

#define STEP(function)                                                                             \
    {                                                                                              \
        .name = #function, .title = #function, .element = ELEMENT_F32, .scan = function,           \
        .shape = shape, .depth = depth, .workspace = workspace, .default_n = 1,                    \
    }

const struct step wrong_control = STEP(right_scan);

#define BLOCKS (5 * WRONG_BLOCK) /* several blocks, all of them full */

const struct wrong wrong_scans[] = {
    {STEP(missing_barrier), .n = WRONG_BLOCK},
    {STEP(naive_in_place), .n = 512},
    {STEP(shifted_right), .n = 1000, .cause = "left neighbour"},
    {STEP(shifted_left), .n = 1000, .cause = "right neighbour"},
    {STEP(inclusive), .n = 1000, .cause = "inclusive for exclusive"},
    {STEP(one_carry_dropped), .n = BLOCKS, .cause = "carry of block 3 dropped"},
    {STEP(one_block_sum_dropped), .n = BLOCKS, .cause = "carry of block 3 dropped"},
    {STEP(all_carries_dropped), .n = BLOCKS, .cause = "carries dropped"},
    {STEP(carry_added_twice), .n = BLOCKS, .cause = "carry of block 2 added twice"},
    {STEP(swapped_neighbours), .n = 1000, .cause = "neighbours were swapped"},
    {STEP(right_for_ones), .n = 1000},
    {STEP(right_for_powers_of_two), .n = 1000, .cause = "the last 488 elements were never written"},
    {STEP(last_element), .n = 1000, .cause = "only the last element"},
    {STEP(nothing_written), .n = 1000, .cause = "the output was never written"},
    {STEP(zeros), .n = 1000, .cause = "zeros"},
    {STEP(copied), .n = 1000, .cause = "copied, not scanned"},
    {STEP(nan_at_one), .n = 1000, .cause = "NaN"},
    {STEP(infinite_at_one), .n = 1000},
    {STEP(one_past_the_end), .n = 1000, .cause = "the output was written 1 element past its end"},
    {STEP(one_before_the_start), .n = 1000,
     .cause = "the output was written 1 element before its start"},
    {STEP(beyond_the_workspace), .n = 1000,
     .cause = "the workspace was written 1 element past its end"},
    {STEP(modifies_input), .n = 1000, .cause = "the input was modified, first at element 7"},
    {STEP(beyond_the_input), .n = 1000, .cause = "the input was written 1 element past its end"},
    {STEP(double_add), .n = 1000, .cause = "twice the sum"},
    {STEP(element_left_out), .n = 1000, .cause = "element 99 of the input was left out"},
    {STEP(element_added_twice), .n = 1000, .cause = "element 99 of the input was added twice"},
    {STEP(stale_buffer), .n = 512},
    {STEP(wrong_order), .n = 1000},
    {STEP(errors_that_cancel), .n = 1000},
    {STEP(right_where_sampled), .n = 1000},
    {STEP(first_run_only), .n = 1000, .cause = "the output was never written"},
    {STEP(wrong_in_place), .n = 1000, .in_place = true, .cause = "zeros"},
    {STEP(writes_far_away), .n = 16, .fault = "cudaErrorIllegalAddress"},
    {STEP(few_bits), .n = 256, .real = true},

    /* breaches.c */
    {STEP(exits), .n = 16, .fault = "exit was called"},
    {STEP(exits_quickly), .n = 16, .fault = "quick_exit was called"},
    {STEP(aborts), .n = 16, .fault = "abort was called"},
    {STEP(ends_its_thread), .n = 16, .fault = "pthread_exit was called"},
    {STEP(exits_in_a_thread), .n = 16, .fault = "exit was called"},
    {STEP(exits_in_third_call), .n = 16, .fault = "exit was called"},
    {.n = 0},
};
