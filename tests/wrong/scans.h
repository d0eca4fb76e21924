/* scans.h — the functions of this folder. */
#ifndef SCANS_H
#define SCANS_H

#include "common/step/step.h"

#define WRONG_BLOCK 128 /* threads, and elements, per block */

#ifdef __cplusplus
extern "C" {
#endif

/* scans.cu; the first is right */
scan_fn right_scan;
scan_fn missing_barrier, naive_in_place, shifted_right, shifted_left, inclusive, one_carry_dropped,
    one_block_sum_dropped, all_carries_dropped, carry_added_twice, swapped_neighbours,
    right_for_ones, right_for_powers_of_two, last_element, nothing_written, zeros, copied,
    nan_at_one, infinite_at_one, one_past_the_end, one_before_the_start, beyond_the_workspace,
    modifies_input, beyond_the_input, double_add, element_left_out, element_added_twice,
    stale_buffer, wrong_order, errors_that_cancel, right_where_sampled, first_run_only,
    wrong_in_place, few_bits, writes_far_away, minus_zero, one_block_raised, input_left_out,
    two_swapped, half_raised, block_raised, block_off_by_one, wrong_sign, last_raised;

/* boundaries.cu */
scan_fn first_is_input, first_unwritten, last_unwritten, first_of_each_block, last_of_each_block,
    first_of_each_warp, carries_inclusive, carries_of_the_block_before, block_sums_without_last,
    blocks_swapped, block_duplicated, reversed_output, tail_unwritten, tail_without_carry,
    tail_copied, index_of_8_bits, block_number_of_4_bits, grid_too_small, misaligned_loads,
    misaligned_stores, carries_in_place;

/* types.cu */
scan_fn sums_in_8_bits, sums_unsigned, sums_truncated, sums_in_half, bytes_in_8_bits,
    shorts_in_16_bits, bytes_unsigned, longs_zero_extended, doubles_in_float, minus_one_left_out,
    signs_lost, nan_skipped, nan_everywhere, infinity_clamped;

/* memory.cu */
scan_fn two_past_the_end, page_past_the_end, far_past_the_end, far_before_the_start,
    before_the_input, far_beyond_the_input, before_the_workspace, far_beyond_the_workspace,
    modifies_last_input, input_as_buffer, reads_beyond_the_input, reads_before_the_input,
    adds_to_the_output, adds_to_the_workspace, rewrites_a_guard, restores_a_guard,
    loads_beyond_the_input;

/* calls.cu */
scan_fn without_first, in_first_call, in_second_call, in_third_call, in_fourth_call,
    from_third_call_on,
    loses_fourth_race, loses_twelfth_race, in_third_call_past_the_end,
    in_third_call_into_the_workspaces_guard, in_third_call_modifies_input, stale_workspace,
    workspace_cleared_once, failure_unreported, failure_unreported_in_third_call,
    failure_taken_back;

/* breaches.c */
scan_fn on_cpu, on_cpu_in_stream, on_cpu_by_host_function, detour_over_host, allocates,
    allocates_in_stream, waits_for_the_device, waits_for_the_stream, waits_and_hides_it,
    in_default_stream, in_threads_default_stream, in_own_stream, part_in_own_stream,
    from_third_call_on_in_own_stream, from_third_call_on_allocates,
    from_third_call_on_waits_for_the_device;

#ifdef __cplusplus
}
#endif

#endif
