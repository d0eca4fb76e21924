/*
 * run_case.h — runs a submission's PTX on one case: a fresh device, our launches, all checkers on.
 */
#ifndef LAB_RUN_CASE_H
#define LAB_RUN_CASE_H

#include "results.h"
#include "run_entry.h"

/* Fills the result of a case, also if it fails. run_case_free gives its memory back. */
void run_case(const struct lab *, const struct lab_ptx *, const struct lab_case *,
              struct lab_case_result *);
void run_case_free(struct lab_case_result *);

/* Stops the kernel that runs now, which then ends as LAB_INSTRUCTIONS. The reason, a sentence, has
 * to stay. For what the emulator calls during a launch. */
void run_case_stop(const char *why);

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
