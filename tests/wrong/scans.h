/* scans.h — the functions of this folder. */
#ifndef SCANS_H
#define SCANS_H

#include "common/step.h"

#define WRONG_BLOCK 128 /* threads a block, and elements */

#ifdef __cplusplus
extern "C" {
#endif

scan_fn right_scan;
scan_fn missing_barrier, naive_in_place, shifted_right, shifted_left, inclusive, one_carry_dropped,
    one_block_sum_dropped, all_carries_dropped, carry_added_twice, swapped_neighbours,
    right_for_ones, right_for_powers_of_two, last_element, nothing_written, zeros, copied,
    nan_at_one, infinite_at_one, one_past_the_end, one_before_the_start, beyond_the_workspace,
    modifies_input, beyond_the_input, double_add, element_left_out, element_added_twice,
    stale_buffer, wrong_order, errors_that_cancel, right_where_sampled, first_run_only,
    wrong_in_place, few_bits, writes_far_away;

/* breaches.c */
scan_fn exits, exits_quickly, aborts, ends_its_thread, exits_in_a_thread, exits_in_third_call;

#ifdef __cplusplus
}
#endif

#endif
