/*
 * report.h — what rank 0 prints: the screen, or a record of --json and --csv.
 *
 * The keys of the record that the other steps have mean the same (common/harness/report/report.h).
 * These are step 17's own:
 *   op, second               sum or affine; the file of b
 *   ranks, machines, gpus    numbers of ranks, of machines, and of different GPUs
 *   exchange                 mpi, nccl, peer or exscan
 *   part_least, part_most    elements of the smallest and of the largest part
 *   nodes, node_elements     nodes of the tree; elements of each, but for the last one
 *   wrong_rank               the first rank whose results are wrong
 *   words_per_element        words that a GPU reads and writes per element
 *   checksum                 of all bits of the result, as 16 hexadecimal digits
 *   checksum_of_ranks        true if other numbers of ranks may have other bits
 */
#ifndef STEP17_REPORT_H
#define STEP17_REPORT_H

#include "part_runs.h"

void report17(FILE *, const struct step *, const struct device *, const struct part_runs *,
              const struct outcome17 *);

#endif
