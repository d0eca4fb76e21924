/*
 * report.h — what the user reads: one calm screen for a run, one line for each size of a sweep; and
 * the same facts as a record, for --json and --csv.
 *
 * The keys of --json and --csv (n elements, one run of one scan; null, or empty, where there is
 * nothing to say: no counters on a GPU, no rate on the emulator):
 *
 *   step, name, variant       the step's number and name; the variant's name
 *   n, element                how many elements, of which type
 *   input, seed               file, "random integers" or "random reals"; seed of the random ones
 *   inclusive, in_place       true or false
 *   offset                    elements by which buffers were displaced
 *   device, emulated          the GPU's (or its model's, or the processor's) name; true or false
 *   grid, block, shared_bytes, launches
 *                             of the main kernel; kernels a scan launches
 *   occupancy                 resident warps of possible ones, by threads and shared memory, 0 … 1
 *   verify                    full, sample or none
 *   right                     true or false; null if not verified
 *   exact                     compared for equality (true) or within the bound (false)
 *   checked, wrong            elements compared; how many of them were wrong
 *   first_wrong, got, expected, cause
 *                             the first mismatch; which run is wrong, unless it is the first,
 *                             and a guess at its cause, the damaged buffer, or what breaks the
 *                             contract of step.h
 *   worst_of_bound            greatest error as a fraction of the bound
 *   widest_bound              the bound where it is widest, in units of the elements; 0 if exact
 *   least_input               smallest |input| that is not 0; only within the bound
 *   adds_counted              additions that lanes executed (emulator, real types)
 *   adds_formula              the same by the step's formula
 *   adds_sequential           n-1
 *   reps                      timed runs
 *   seconds, seconds_lower, seconds_upper
 *                             median and quartiles; on the emulator its own time
 *   bytes_moved               2n * size of an element
 *   gb_per_s                  bytes_moved / seconds / 1e9; not for the emulator
 *   roof_gb_per_s, roof_fraction, roof_how
 *                             the copy of as many bytes; gb_per_s of it; how it was copied
 *   conflicts_ld, conflicts_st, wavefronts_ld, wavefronts_st
 *                             shared memory: bank conflicts, which are the wavefronts beyond the
 *                             ideal, and all wavefronts
 *   worst_line                source line with the most bank conflicts
 *   requests_ld, sectors_ld, requests_st, sectors_st
 *                             global memory: warp instructions, 32-byte sectors
 *   barriers                  warps that arrived at a block barrier
 *
 * With --counters each JSON object has `lines` too, an array of objects with file, line,
 * conflicts_ld, conflicts_st, wavefronts_ld, wavefronts_st, requests_ld, sectors_ld, requests_st,
 * sectors_st, adds.
 */
#ifndef REPORT_H
#define REPORT_H

#include "common/harness/run/bench.h"
#include "common/harness/run/device.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The heading of a step's report: number, title, what it teaches and where it runs. Steps with a
 * `run` of their own begin with it too. device may be NULL: the step runs on the host. */
void report_heading(FILE *, const struct step *, const struct device *);
/* One row: a label in the margin, and a line of text. */
void report_row(FILE *, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The last line: what is still bad. Nothing if there is nothing. */
void report_still_bad(FILE *, const struct step *);

/* Everything in between, for one run. */
void report_outcome(FILE *, const struct step *, const struct options *, const struct device *,
                    const struct outcome *);

/* A sweep's table: its head, and a line for each size. */
void report_sweep_head(FILE *, const struct step *, const struct device *);
void report_sweep_line(FILE *, const struct step *, const struct device *, const struct outcome *);

/* The table of counters by source line: --counters. */
void report_lines(FILE *, const struct counters *);

/* The keys above, for one run. */
void report_record(struct record *, const struct step *, const struct options *,
                   const struct device *, const struct outcome *);
/* Prints it, with `lines` if options ask for them; `index` counts the records of a sweep. */
void report_print_record(FILE *, const struct record *, const struct options *,
                         const struct outcome *, size_t index);

/* The additions that the emulator's lanes executed in the first run. False: not known. */
bool report_adds_counted(const struct step *, const struct outcome *, uint64_t *adds);

/* Memory traffic of a scan, as the documents count it: each element is read once and written once.
 * */
double report_bytes_moved(const struct step *, size_t n);

#ifdef __cplusplus
}
#endif

#endif
