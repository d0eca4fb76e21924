#define _GNU_SOURCE
#include "device.h"

#include "runs.h"
#include "common/step/cuda_check.h"
#include "common/harness/print/print.h"

#include <stdlib.h>
#include <time.h>

/* Twice the size of the L2, so that none of its earlier content remains. */
#define FLUSH_FACTOR 2

/* Faster than any memory so far, in bytes per second: emptying the L2 takes at least this long. */
#define FLUSH_RATE 10e12

#define REPS_GPU       15
#define REPS_GPU_LEAST 5 /* the fewest runs, so that a scan that is wrong now and then is found */
#define REPS_EMULATED  3
#define MOMENT         0.5 /* seconds that all timed runs together may take, except the fewest */

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int timing_default_reps(bool emulated, double once_seconds)
{
    int most = emulated ? REPS_EMULATED : REPS_GPU, least = emulated ? 1 : REPS_GPU_LEAST;
    if (once_seconds * most <= MOMENT) return most;
    int fit = (int)(MOMENT / once_seconds);
    return fit > least ? fit : least;
}

size_t timing_flush_bytes(bool emulated, size_t l2) { return emulated ? 0 : FLUSH_FACTOR * l2; }

static int open_device_timer(struct timer *timer, struct fault *fault)
{
    CUDA_CHECK(fault, cudaStreamCreate(&timer->stream));
    CUDA_CHECK(fault, cudaEventCreate(&timer->start));
    CUDA_CHECK(fault, cudaEventCreate(&timer->stop));
    struct cudaDeviceProp properties;
    CUDA_CHECK(fault, cudaGetDeviceProperties(&properties, 0));
    timer->flush_bytes = timing_flush_bytes(cuda_emulated(), (size_t)properties.l2CacheSize);
    if (timer->flush_bytes == 0) return 0;
    CUDA_CHECK(fault, cudaMalloc(&timer->flush, timer->flush_bytes));
    CUDA_CHECK(fault, cudaMemset(timer->flush, 0, timer->flush_bytes));
    return 0;
}

int timer_open(struct timer *timer, bool on_host, struct fault *fault)
{
    *timer = (struct timer){.on_host = on_host};
    if (on_host) return 0;
    int code = open_device_timer(timer, fault);
    if (code) timer_close(timer);
    return code;
}

void timer_close(struct timer *timer)
{
    if (timer->flush) cudaFree(timer->flush);
    if (timer->start) cudaEventDestroy(timer->start);
    if (timer->stop) cudaEventDestroy(timer->stop);
    if (timer->stream) cudaStreamDestroy(timer->stream);
    *timer = (struct timer){0};
}

static int time_once_on_host(run_fn *work, void *context, double *seconds, struct fault *fault)
{
    double start = clock_seconds();
    CUDA_CHECK(fault, work(context, NULL));
    *seconds = clock_seconds() - start;
    return 0;
}

static cudaError_t empty_l2(const struct timer *timer)
{
    if (!timer->flush) return cudaSuccess;
    double shortest = (double)timer->flush_bytes / FLUSH_RATE;
    for (double busy = 0; busy <= timer->lead; busy += shortest) {
        cudaError_t error =
            timer->how == FLUSH_READ
                ? flush_read(timer->flush, timer->flush_bytes, timer->stream)
                : cudaMemsetAsync(timer->flush, 0, timer->flush_bytes, timer->stream);
        if (error) return error;
    }
    return cudaSuccess;
}

int timer_once(struct timer *timer, run_fn *work, void *context, double *seconds,
               struct fault *fault)
{
    float milliseconds;
    if (timer->on_host) return time_once_on_host(work, context, seconds, fault);
    CUDA_CHECK(fault, empty_l2(timer));
    CUDA_CHECK(fault, cudaEventRecord(timer->start, timer->stream));
    CUDA_CHECK(fault, work(context, timer->stream));
    CUDA_CHECK(fault, cudaEventRecord(timer->stop, timer->stream));
    CUDA_CHECK(fault, cudaEventSynchronize(timer->stop));
    CUDA_CHECK(fault, cudaEventElapsedTime(&milliseconds, timer->start, timer->stop));
    *seconds = 1e-3 * milliseconds;
    return 0;
}

/* One timed run, with its preparation and its check. */
static int prepare_time_check(struct timer *timer, run_fn *prepare, run_fn *work, check_fn *check,
                              void *context, double *seconds, struct fault *fault)
{
    cudaError_t error = prepare ? prepare(context, timer->stream) : cudaSuccess;
    if (error) return cuda_fault(fault, error, "preparing a timed run");
    int code = timer_once(timer, work, context, seconds, fault);
    return code || !check ? code : check(context, fault);
}

int timer_run_warm(struct timer *timer, run_fn *prepare, run_fn *work, check_fn *check,
                   void *context, int reps, struct timing *timing, struct fault *fault)
{
    *timing = (struct timing){0};
    if (reps == 0) return 0;
    double *seconds = allocated(calloc((size_t)reps, sizeof *seconds));
    int code = 0;
    progress_begin("timed runs", (size_t)reps);
    for (int i = 0; i < reps && !code; i++) {
        code = prepare_time_check(timer, prepare, work, check, context, &seconds[i], fault);
        progress_at((size_t)i + 1);
    }
    progress_end();
    if (!code) timing_summarize(timing, seconds, reps);
    free(seconds);
    return code;
}

int timer_run(struct timer *timer, run_fn *prepare, run_fn *work, void *context, int reps,
              struct timing *timing, struct fault *fault)
{
    cudaError_t error = prepare ? prepare(context, timer->stream) : cudaSuccess;
    if (!error) error = work(context, timer->stream);
    if (!error && !timer->on_host) error = cudaStreamSynchronize(timer->stream);
    if (error) return cuda_fault(fault, error, "the warm-up run");
    return timer_run_warm(timer, prepare, work, NULL, context, reps, timing, fault);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The value at a fraction of the way through sorted values, interpolated between two of them. */
static double quantile(const double *sorted, int count, double fraction)
{
    double at = fraction * (count - 1);
    int below = (int)at;
    int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

void timing_summarize(struct timing *timing, double *seconds, int reps)
{
    *timing = (struct timing){.reps = reps};
    if (reps == 0) return;
    qsort(seconds, (size_t)reps, sizeof *seconds, compare);
    timing->least = seconds[0];
    timing->lower = quantile(seconds, reps, 0.25);
    timing->median = quantile(seconds, reps, 0.5);
    timing->upper = quantile(seconds, reps, 0.75);
}
