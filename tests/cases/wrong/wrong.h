/*
 * wrong.h — scans that are wrong on purpose. The harness has to reject every one, and to name the
 * cause where its results give it away.
 *
 * They are deterministic: where the mistake is a race, the kernel loses the race under any
 * schedule, and its comment says how.
 */
#ifndef WRONG_H
#define WRONG_H

#include "common/step/step.h"

struct wrong {
    struct step step;
    size_t n;            /* elements to run it on */
    bool in_place;       /* wrong only in place */
    size_t offset;       /* wrong only if displaced by this many elements */
    bool real;           /* on random real numbers; otherwise random integers */
    const char *fault;   /* a part of the sentence with which the program ends instead; run as a
                            program of its own, for some end the process */
    const char *checker; /* right for the verifier; a part of memcheck's message */
    const char *run;     /* a part of what names the run that is wrong; NULL: the first is */
    const char *cause;   /* a part of the cause that has to be named; NULL: none can be */
};

/* Ends with n = 0. */
extern const struct wrong wrong_scans[];

/* The scan that they are made from: right, and slow. */
extern const struct step wrong_control;
/* Finds one of all these by its name; NULL: there is none. */
const struct step *wrong_find(const char *name);

/* ---- the functions --------------------------------------------------------------------------- */

#define WRONG_BLOCK 128 /* threads, and elements, per block */

#ifdef __cplusplus
extern "C" {
#endif

/* scans.cu: the right one, and those that are wrong in a value, in memory, in some calls, and in
 * how they work. */
scan_fn right_scan;
scan_fn missing_barrier, one_carry_dropped, all_carries_dropped, swapped_neighbours,
    nothing_written, bytes_in_8_bits, doubles_in_float, input_left_out, wrong_in_place,
    misaligned_loads;

scan_fn writes_far_away, loads_beyond_the_input, adds_to_the_output, adds_to_the_workspace,
    one_past_the_end, far_past_the_end, before_the_input, before_the_workspace,
    beyond_the_workspace, modifies_input, in_third_call_past_the_end,
    in_third_call_into_the_workspaces_guard, in_third_call_modifies_input;

scan_fn without_first, in_first_call, in_second_call, in_third_call, first_run_only,
    loses_fourth_race, loses_twelfth_race, failure_unreported, failure_unreported_in_third_call;

scan_fn on_cpu, on_cpu_by_host_function, allocates, waits_for_the_stream, in_default_stream,
    in_own_stream, part_in_own_stream;

/* The head of such a function, which may leave parameters unused. */
#define WRONG_UNUSED __attribute__((unused))
#define WRONG_SCAN(name)                                                                           \
    cudaError_t name(void *out, const void *in, size_t n, WRONG_UNUSED int variant,                \
                     WRONG_UNUSED void *workspace, WRONG_UNUSED cudaStream_t stream)

#ifdef __cplusplus
}
#endif

#endif
