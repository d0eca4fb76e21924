/*
 * show.h — what is printed of a match: a table for people, or records.
 *
 * The keys of --csv and --json; a row is one contender at one size, timed in one mode:
 *
 *   contender, step, variant   "step 7", 7, ""; step is empty for CUB and the ways to copy
 *   element, n                 f32 …; how many
 *   mode, flush, launches      cold (one run) or graph (so many runs); read or memset
 *   reps                       runs, or graphs, that were timed
 *   seconds, seconds_lower, seconds_upper, seconds_least
 *                              of one run: median, quartiles, least
 *   bytes_moved, gb_per_s      what a scan has to read and to write, once; a second
 *   roof_fraction              the time of the fastest copy by this one's
 *   times_cub                  CUB's time by this one's
 *   words                      what it moves by its formula, in elements, by n; empty: not stated
 *   right, wrong               true or false; what was wrong, or why there is no graph
 *   device                     the GPU's name
 */
#ifndef SHOW_H
#define SHOW_H

#include "match.h"
#include "wish.h"

#include "common/harness/run/device.h"

void show_head(FILE *, const struct wish *, const struct device *);
void show_match(FILE *, const struct wish *, const struct device *, const struct match *,
                size_t *records);
void show_end(FILE *, const struct wish *);

#endif
