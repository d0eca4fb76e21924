/* report.h — what a run prints. */
#ifndef REPORT_H
#define REPORT_H

#include "common/harness/print/print.h"
#include "common/harness/run/device.h"
#include "common/harness/run/runs.h"
#include <stddef.h>

/* ---- turns a file and line ------------------------------------------------------------------- */

/* The text of that line without indentation; "" if the file cannot be read here. */
void source_text(const char *file, unsigned line, char *text, size_t size);

/* ---- what a run prints: one screen. --json and --csv print the same facts as a record -------- */

/*
 * These are the keys of --json and --csv, for one scan of n elements. A value that does not apply
 * is null in JSON, or empty in CSV. For example, a GPU gives no counters, and the emulator gives
 * no rate.
 *
 *   step, name, variant       the step's number and name; the variant's name
 *   n, element                number of elements, and their type
 *   input, seed               a file, "random integers" or "random reals"; the seed of random ones
 *   inclusive, in_place       true or false
 *   offset                    elements by which the buffers were displaced
 *   device, emulated          name of the GPU, of the emulated model or of the processor; true or
 *                             false
 *   kernel, grid, block, shared_bytes
 *                             of the kernel with the most blocks: its name, blocks, threads per
 *                             block, bytes of shared memory per block
 *   launches                  number of kernel launches in one scan
 *   occupancy                 of that kernel: resident warps as a fraction (0 to 1) of the possible
 *                             ones, as CUDA's occupancy function gives it; the emulator
 *                             estimates registers
 *   verify                    full or none
 *   right                     true or false; null if not verified
 *   exact                     true: compared for equality; false: compared within the bound
 *   checked, wrong            number of elements compared; number of wrong ones among them
 *   first_wrong, got, expected, cause
 *                             the first wrong element: its index, value and expected value. The
 *                             cause says which run is wrong, unless it is the first one, and
 *                             guesses why. It may also name a damaged buffer, or a breach of the
 *                             contract of step.h
 *   worst_of_bound            greatest error as a fraction of its bound
 *   widest_bound              the largest bound, in units of the elements; 0 if exact
 *   least_input               smallest |input| that is not 0; only if compared within the bound
 *   adds_counted              additions that lanes executed (emulator and real types only)
 *   adds_sequential           n-1
 *   reps                      number of timed runs
 *   seconds, seconds_lower, seconds_upper
 *                             median and quartiles; on the emulator its own time
 *   bytes_moved               the least possible: for a scan 2n * size of an element
 *   gb_per_s                  bytes_moved / seconds / 1e9; not on the emulator
 *   roof_gb_per_s, roof_fraction, roof_how
 *                             the fastest copy of as many bytes: its rate, the scan's rate as a
 *                             fraction of that, and the name of the way to copy
 *   variant_remark            which of its kernels the variant ran, and why, where the input
 *                             decides that
 *   conflicts_ld, conflicts_st, wavefronts_ld, wavefronts_st
 *                             shared memory: bank conflicts, and all wavefronts. Bank conflicts are
 *                             the wavefronts beyond the least possible number
 *   worst_line                source line with the most bank conflicts
 *   requests_ld, sectors_ld, requests_st, sectors_st
 *                             global memory: number of warp instructions, and of 32-byte sectors
 *   barriers                  number of warps that arrived at a block barrier
 *
 * With --counters each JSON object also has `lines`, an array of objects with file, line,
 * conflicts_ld, conflicts_st, wavefronts_ld, wavefronts_st, requests_ld, sectors_ld, requests_st,
 * sectors_st, adds.
 */

/* The heading of a step's report: number, title, what it teaches and where it runs. Steps with a
 * `run` of their own begin with it too. device may be NULL: the step runs on the host. */
void report_heading(FILE *, const struct step *, const struct device *);
/* One row: a label in the margin ("": none), and a line of text. */
void report_row(FILE *, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The last line: the remaining weakness of the step. Prints nothing if the step names no
 * weakness. */
void report_still_bad(FILE *, const struct step *);

/* Everything in between, for one run. */
void report_outcome(FILE *, const struct subject *, const struct device *, const struct outcome *);

/* The table of counters by source line: --counters. */
void report_lines(FILE *, const struct counters *);

/* The keys above, for one run. */
void report_record(struct record *, const struct subject *, const struct device *,
                   const struct outcome *);
/* Prints it, with `lines` if options ask for them; `index` counts the records of a program. */
void report_print_record(FILE *, const struct record *, const struct options *,
                         const struct outcome *, size_t index);

#endif
