/*
 * wrong.h — scans that are wrong on purpose. The verifier has to reject every one, and to name the
 * cause where its results give it away. Many of them pass well-known verifiers: those that look at
 * the last element only, at a sample, at the sum of signed differences, or at inputs that are all
 * ones.
 *
 * They are deterministic: where the mistake is a race, the kernel loses the race under any
 * schedule, and its comment says how.
 */
#ifndef WRONG_H
#define WRONG_H

#include "common/step/step.h"

/* A number of the input that another number replaces. */
enum special { SPECIAL_NONE, SPECIAL_NAN, SPECIAL_INFINITY };

struct wrong {
    struct step step;
    size_t n;             /* elements to run it on */
    bool in_place;        /* wrong only in place */
    size_t offset;        /* wrong only if displaced by this many elements */
    bool real;            /* on random real numbers; otherwise random integers */
    enum special special; /* in the middle of the input */
    const char *fault;    /* a part of the sentence with which the program ends instead; run as a
                             program of its own, for some end the process */
    const char *checker;  /* right for the verifier; a part of memcheck's message */
    const char *run;      /* a part of what names the run that is wrong; NULL: the first is */
    const char *cause;    /* a part of the cause that has to be named; NULL: none can be */
};

/* Ends with n = 0. */
extern const struct wrong wrong_scans[];

/* The scan that they are made from: right, and slow. */
extern const struct step wrong_control;
/* Step 9's scan, right: the step's other functions leave errors of CUDA. */
extern const struct step wrong_erring;
/* Finds one of all these by its name; NULL: there is none. */
const struct step *wrong_find(const char *name);

/* ---- the functions --------------------------------------------------------------------------- */

#define WRONG_BLOCK 128 /* threads, and elements, per block */

#ifdef __cplusplus
extern "C" {
#endif

/* scans.cu: the right one, and those that are wrong in a value, at a boundary, by a type, in memory
 * and in some calls. */
scan_fn right_scan;
scan_fn missing_barrier, shifted_right, shifted_left, inclusive, one_carry_dropped,
    one_block_sum_dropped, all_carries_dropped, carry_added_twice, swapped_neighbours,
    right_for_powers_of_two, last_element, nothing_written, zeros, copied, nan_at_one,
    one_past_the_end, one_before_the_start, beyond_the_workspace, modifies_input, double_add,
    element_left_out, wrong_order, errors_that_cancel, right_where_sampled, first_run_only,
    wrong_in_place, few_bits, writes_far_away, minus_zero, one_block_raised, input_left_out,
    block_raised;

scan_fn first_unwritten, first_of_each_block, blocks_swapped, tail_unwritten, tail_without_carry,
    index_of_8_bits, grid_too_small, misaligned_loads, misaligned_stores, carries_in_place;

scan_fn sums_in_8_bits, bytes_in_8_bits, longs_zero_extended, doubles_in_float, nan_skipped,
    infinity_clamped;

scan_fn far_past_the_end, before_the_input, before_the_workspace, reads_beyond_the_input,
    adds_to_the_output, adds_to_the_workspace, rewrites_a_guard, loads_beyond_the_input;

scan_fn without_first, in_first_call, in_second_call, in_third_call, loses_fourth_race,
    loses_twelfth_race, in_third_call_past_the_end, in_third_call_into_the_workspaces_guard,
    in_third_call_modifies_input, stale_workspace, failure_unreported,
    failure_unreported_in_third_call, failure_taken_back;

/* breaches.c */
scan_fn on_cpu, on_cpu_by_host_function, detour_over_host, allocates, waits_for_the_device,
    waits_for_the_stream, waits_and_hides_it, in_default_stream, in_own_stream, part_in_own_stream,
    from_third_call_on_in_own_stream;

#ifdef __cplusplus
}
#endif

#endif
