/*
 * show.h — prints what bench.h has timed: as a table for people, or as records.
 *
 * These are the keys of --csv and --json. A row is one contender at one size, timed in one mode:
 *
 *   contender, step, variant   "step 7", 7, ""; step is empty for CUB and the ways to copy
 *   element, n                 the type (f32 …), and the number of elements
 *   mode, flush, launches      cold or graph; how the L2 was emptied: read or memset; runs in one
 *                              timed launch: 1 (cold), or the number in the graph
 *   reps                       number of runs, or graphs, that were timed
 *   seconds, seconds_lower, seconds_upper, seconds_least
 *                              of one run: median, quartiles, least
 *   bytes_moved, gb_per_s      bytes that a scan has to read and to write, once; GB per second
 *   roof_fraction              time of the fastest copy / time of this contender
 *   times_cub                  time of CUB / time of this contender
 *   right, wrong               true or false; what was wrong, or why there is no graph
 *   device                     the GPU's name
 */
#ifndef SHOW_H
#define SHOW_H

#include "bench_options.h"
#include "bench.h"

#include "common/harness/run/run_device.h"

void show_head(FILE *, const struct bench_options *, const struct device *);
void show_side_by_side(FILE *, const struct bench_options *, const struct device *,
                       const struct side_by_side *, size_t *records);
void show_end(FILE *, const struct bench_options *);

#endif
