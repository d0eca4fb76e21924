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

/* The workspace of step 9, whose result it changes. */
extern const struct step step09;

static size_t workspace_of_step9(size_t n, int variant) { return step09.workspace(n, variant); }

const struct step wrong_control = STEP(right_scan);

#define BLOCKS  (5 * WRONG_BLOCK) /* several blocks, all of them full */
#define LARGE   100000            /* so that 256 KiB are less than the array's size */

const struct wrong wrong_scans[] = {
    {STEP(missing_barrier), .n = WRONG_BLOCK},
    {STEP(one_carry_dropped), .n = BLOCKS, .cause = "carry of block 3 dropped"},
    {STEP(all_carries_dropped), .n = BLOCKS, .cause = "carries dropped"},
    {STEP(swapped_neighbours), .n = 1000, .cause = "neighbours were swapped"},
    {STEP(nothing_written), .n = 1000, .cause = "the output was never written"},
    {TYPED(bytes_in_8_bits, ELEMENT_I8), .n = 1000},
    {TYPED(doubles_in_float, ELEMENT_F64), .n = 1000, .real = true},
    {{.name = "input_left_out",
      .element = ELEMENT_F32,
      .scan = input_left_out,
      .depth = step_tree_depth,
      .workspace = workspace_of_step9},
     .n = 1 << 16,
     .real = true,
     .cause = "element 32767 of the input was left out"},
    {STEP(wrong_in_place), .n = 1000, .in_place = true, .cause = "zeros"},
    {STEP(misaligned_loads), .n = 1000, .offset = 1, .cause = "NaN"},

    /* in memory */
    {STEP(writes_far_away), .n = 16, .fault = "cudaErrorIllegalAddress"},
    {STEP(loads_beyond_the_input), .n = 1000, .checker = "Invalid __global__ read of size 4 bytes"},
    {STEP(adds_to_the_output), .n = 1000, .cause = "NaN"},
    {STEP(adds_to_the_workspace), .n = 1000, .cause = "NaN"},
    {STEP(one_past_the_end), .n = 1000, .cause = "the output was written 1 element past its end"},
    {STEP(far_past_the_end), .n = LARGE,
     .cause = "the output was written 65537 elements past its end"},
    {STEP(before_the_input), .n = 1000,
     .cause = "the input was written 1 element before its start"},
    {STEP(before_the_workspace), .n = 1000,
     .cause = "the workspace was written 1 element before its start"},
    {STEP(beyond_the_workspace), .n = 1000,
     .cause = "the workspace was written 1 element past its end"},
    {STEP(modifies_input), .n = 1000, .cause = "the input was modified, first at element 7"},

    /* in some calls */
    {STEP(first_run_only), .n = 1000, .run = "captured graph",
     .cause = "the output was never written"},
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
    {STEP(failure_unreported), .n = 1000, .fault = "whose error the scan did not return"},
    {STEP(failure_unreported_in_third_call), .n = 1000,
     .fault = "whose error the scan did not return"},

    /* work that is not timed, or not on the stream */
    {STEP(on_cpu), .n = 1000, .cause = "the scan uses the default stream"},
    {STEP(on_cpu_by_host_function), .n = 1000, .cause = "the scan copies from or to the host"},
    {STEP(allocates), .n = 1000, .cause = "the scan allocates memory"},
    {STEP(waits_for_the_stream), .n = 1000, .cause = "waits"},
    {STEP(in_default_stream), .n = 1000, .cause = "the scan uses the default stream"},
    {STEP(in_own_stream), .n = 1000, .cause = "the scan uses other streams"},
    {STEP(part_in_own_stream), .n = 1000, .run = "captured graph",
     .cause = "the output was never written"},
    {.n = 0},
};

const struct step *wrong_find(const char *name)
{
    for (const struct wrong *w = wrong_scans; w->n; w++)
        if (strcmp(w->step.name, name) == 0) return &w->step;
    return NULL;
}
