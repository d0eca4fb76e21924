/*
 * bench.h — how the emulator's speed is measured: a workload is run once with counters, to count
 * its warp instructions, and then several times to time it.
 *
 * Time is processor time (user and system, all threads together), so that other programs on the
 * machine disturb little. Warp instructions per second of processor time are the rate of one core.
 * Of several runs the median is taken. Elapsed time is kept beside it, the shortest of the runs,
 * since other programs can only lengthen it.
 */
#ifndef BENCH_EMU_H
#define BENCH_EMU_H

#include "common/step/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Launches something and waits for it. */
typedef cudaError_t workload(void *);

struct bench_case {
    const char *group, *name; /* of the row: "scan", "step 5" */
    size_t n;
    unsigned block; /* threads */
};

/* Runs a workload and prints its rows: instructions, rate, elapsed seconds. */
void measure(const struct bench_case *, workload *, void *argument);

/* micro.cu: programs of one kind of work each; NULL ends the list. */
struct micro {
    const char *name;
    size_t n; /* threads in all */
    unsigned block;
    cudaError_t (*launch)(void *buffer, size_t n, unsigned block);
};
extern const struct micro micros[];
enum { MICRO_BUFFER = 1 << 24 }; /* bytes of the buffer that all of them work on */

/* A sum of n floats by a tree in shared memory, for any block size: how speed depends on it. */
cudaError_t launch_tree(void *buffer, size_t n, unsigned block);
cudaError_t launch_gather(void *zero, unsigned grid, unsigned block);
cudaError_t launch_empty(unsigned grid, unsigned block);

#ifdef __cplusplus
}
#endif

#endif
