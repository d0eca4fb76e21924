/*
 * results_made.h — results as run-lab would write them, made without running anything: right
 * outputs, and counters that the tests choose.
 */
#ifndef RESULTS_MADE_H
#define RESULTS_MADE_H

#include "common/labs/results.h"

/* The results of a right solution on all cases: n - 1 additions (floats', or integers')
 * by full warps, n / 8 sectors, n
 * wavefronts, and as many other instructions of lanes. results_free gives their memory back. */
void make_results(const struct lab *, uint64_t seed, bool handed_out, struct lab_results *);

/* Adds an operation, or a finding at a line, to a case. */
void make_operation(struct lab_case_result *, const char *name, enum emu_class, uint64_t elements);
void make_finding(struct lab_case_result *, unsigned line);

#endif
