/*
 * run_case.h — runs a submission's PTX on one case: a fresh device, our launches, all checkers on.
 */
#ifndef LAB_RUN_CASE_H
#define LAB_RUN_CASE_H

#include "results.h"
#include "run_entry.h"

/* The runs of a submission: the cases of a lab, each on a device with `memory` bytes (0: 256 MiB).
 * take(to, result) is called after each case. A result that it does not move elsewhere is freed
 * then. It returns 0, or an error, which ends the runs. */
struct lab_runs {
    const struct lab *lab;
    uint64_t seed;
    bool handed_out; /* see lab_cases() */
    size_t memory;
    int (*take)(void *to, struct lab_case_result *);
    void *to;
};

/* Runs all cases; those that would only end as an earlier one has ended get its message. Returns 0,
 * or the error of take(). */
int run_cases(const struct lab_runs *, const struct lab_ptx *);

/* The kernel that runs now has printed this many bytes. Of a flood, the kernel is stopped, and ends
 * as LAB_INSTRUCTIONS. For what takes a kernel's printf. */
void run_case_printed(size_t bytes);

/* ---- run_collect.c --------------------------------------------------------------------------- */

/* Copies the counters of all launches, and the findings, from the device into the result. */
void collect_counters(struct emu *, struct lab_case_result *);
void collect_findings(struct emu *, struct lab_case_result *);

/* ---- run_kernel.c ---------------------------------------------------------------------------- */

/* Finds the kernel that has this name in the source, and tests whether its parameters are those of
 * the launch. Returns NULL and a sentence if it has not. */
struct emu_kernel *find_kernel(struct emu *, struct emu_module *, const struct lab_ptx *,
                               const struct lab_launch *, char *why, size_t why_size);

#endif
