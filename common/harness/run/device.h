/*
 * device.h — measures how long a launch takes: with a warm-up, CUDA events, an L2 cache that is
 * emptied before each run, median and quartiles. Steps with experiments of their own (step 0) use
 * it as the harness does:
 *
 *     struct timer timer;
 *     if (timer_open(&timer, false, fault)) …
 *     if (timer_run(&timer, NULL, my_launch, &my_arguments, reps, &timing, fault)) …
 *     timer_close(&timer);
 */
#ifndef TIMING_H
#define TIMING_H

#include "common/command/fault.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What empties the L2 before a timed run: the lines of another array, twice as large, replace its
 * lines. Writing that array leaves the L2 full of lines that are not in memory yet, and the timed
 * run includes the time to write them back. Reading the array leaves no such lines. The harness
 * writes, as it did for the recorded times. The bench that compares steps side by side reads
 * (common/bench). */
enum flush { FLUSH_WRITE, FLUSH_READ };

/* Of `reps` runs, in seconds. reps = 0: nothing was timed, and the rest is 0. */
struct timing {
    int reps;
    double median, lower, upper; /* second, first and third quartile */
    double least;
};

struct timer {
    bool on_host; /* times plain C with the clock: no stream, no events, caches as they are */
    cudaStream_t stream;
    cudaEvent_t start, stop;
    enum flush how; /* FLUSH_WRITE after timer_open */
    void *flush;    /* the array that empties the L2; NULL if flush_bytes is 0 */
    size_t flush_bytes;
    double lead; /* seconds that the host takes to launch the timed work. The L2 is emptied again
                    and again, so that the GPU is busy until all is launched. 0 at first */
};

/* One run. Launches on the stream and does not wait; returns the launch's error. */
typedef cudaError_t run_fn(void *context, cudaStream_t stream);

/* Checks the result of a timed run before the next one. It is not timed. Returns 0, or a code that
 * ends the runs. */
typedef int check_fn(void *context, struct fault *);

/* Makes a stream, two events and the buffer that empties the L2. Returns 0 or EXIT_DEVICE. */
int timer_open(struct timer *, bool on_host, struct fault *);
void timer_close(struct timer *);

/* Runs work(context) once to warm up and then `reps` times, each after prepare(context) (may be
 * NULL) and after the L2 was emptied; only `work` is timed. Returns 0 or EXIT_DEVICE. */
int timer_run(struct timer *, run_fn *prepare, run_fn *work, void *context, int reps,
              struct timing *, struct fault *);

/* Times work that has just run, so without a warm-up, and calls check(context) after each run (may
 * be NULL). Returns also what check returned if that is not 0; then nothing is timed. */
int timer_run_warm(struct timer *, run_fn *prepare, run_fn *work, check_fn *check, void *context,
                   int reps, struct timing *, struct fault *);

/* Empties the L2 and runs `work` once, timed: for callers that choose the order of runs
 * themselves. */
int timer_once(struct timer *, run_fn *work, void *context, double *seconds, struct fault *);

/* Fills timing from `reps` durations in seconds, which it sorts. */
void timing_summarize(struct timing *, double *seconds, int reps);

/* The number of timed runs if the user has not chosen one (options.reps is REPS_DEFAULT): many on a
 * GPU, few on the emulator. It is smaller the longer one run takes (once_seconds: time of the first
 * run), but at least 5, or 1 on the emulator. */
int timing_default_reps(bool emulated, double once_seconds);

/* Bytes of device memory that timer_open takes to empty an L2 of `l2` bytes: twice that size, or 0
 * on the emulator, which models no L2. */
size_t timing_flush_bytes(bool emulated, size_t l2);

/* flush.cu: loads an array of zeros, aligned to 16 bytes, and drops the values. */
cudaError_t flush_read(void *array, size_t bytes, cudaStream_t);

/* Seconds on a clock that only goes forward. */
double clock_seconds(void);

#ifdef __cplusplus
}
#endif

#endif
