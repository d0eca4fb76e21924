/*
 * clocks: the frequency of the multiprocessors' clock.
 *
 * What it shows: a kernel reads the clock of its multiprocessor (clock64) and the time
 * (%globaltimer) before and after its work; the differences give the frequency. The frequency is
 * highest while the GPU has power to spare, and may fall when all units work.
 * From: Kepler tuning guide, 1.4.6, "GPU Boost".
 * How to run it: make experiment-06-clocks
 */
#include "common/experiment/experiment.h"

#include <stdlib.h>
#include <time.h>

#define THREADS  1024
#define WARP     32
#define CHAINS   8
#define MEGA     1e6
#define NANO     1e-9
#define RUN_TIME 20000000 // nanoseconds of work
#define REST     200000000

enum work { SPIN, FLOATS, DOUBLES };

struct reading {
    long long cycles;
    unsigned long long nanoseconds;
};

static __device__ unsigned long long nanoseconds()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

template <typename real> static __device__ real multiply_and_add(real start)
{
    real x[CHAINS], sum = 0;
    for (int c = 0; c < CHAINS; c++) x[c] = start + c;
    for (int round = 0; round < 256; round++)
        for (int c = 0; c < CHAINS; c++) x[c] = x[c] * real(0.5) + real(1);
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    return sum;
}

// Works for some nanoseconds; each piece of work depends on the one before. The first thread of
// each block stores its readings of the clocks.
static __global__ void busy(struct reading *readings, double *sink, enum work work,
                            unsigned long long duration)
{
    unsigned long long begin = nanoseconds(), now;
    long long cycles = clock64();
    double sum = 0;
    do {
        if (work == FLOATS) sum += multiply_and_add<float>(sum);
        if (work == DOUBLES) sum += multiply_and_add<double>(sum);
        now = nanoseconds();
    } while (now - begin < duration);
    if (threadIdx.x == 0) readings[blockIdx.x] = {clock64() - cycles, now - begin};
    if (sum < 0) *sink = sum; // never true, but the compiler cannot know that
}

static int measure(struct experiment *e, const char *name, enum work work, int blocks, int threads,
                   struct fault *fault)
{
    unsigned long long duration = e->emulated ? 1000 : RUN_TIME;
    size_t bytes = blocks * sizeof(struct reading);
    struct reading *device, *readings = (struct reading *)malloc(bytes);
    double *sink, least = 0, most = 0;
    CUDA_CHECK(fault, cudaMalloc(&device, bytes));
    CUDA_CHECK(fault, cudaMalloc(&sink, sizeof *sink));
    busy<<<blocks, threads>>>(device, sink, work, duration);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaMemcpy(readings, device, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < blocks; i++) {
        double hertz = readings[i].cycles / (NANO * readings[i].nanoseconds);
        if (i == 0 || hertz < least) least = hertz;
        if (hertz > most) most = hertz;
        if (readings[i].nanoseconds < duration || readings[i].cycles <= 0)
            return fail(fault, EXIT_WRONG, "%s: a clock of block %d stood still.", name, i);
    }
    experiment_at(e, name, "%d", blocks);
    if (!e->emulated) {
        experiment_value(e, "least", least / MEGA, "MHz");
        experiment_value(e, "most", most / MEGA, "MHz");
    }
    free(readings);
    CUDA_CHECK(fault, cudaFree(device));
    CUDA_CHECK(fault, cudaFree(sink));
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "the clock is at its highest when the GPU is idle, and may fall when "
                "all units work.";
    int all = e->emulated ? 2 : 2 * e->device.sms, highest_khz;
    const struct timespec rest = {.tv_sec = 0, .tv_nsec = REST};
    CUDA_CHECK(fault, cudaDeviceGetAttribute(&highest_khz, cudaDevAttrClockRate, 0));
    experiment_at(e, "highest", "%d", 0);
    experiment_value(e, "most", highest_khz / 1e3, "MHz");
    if (!e->emulated) nanosleep(&rest, NULL);
    if (measure(e, "rested", SPIN, 1, 1, fault)) return fault->code;
    if (measure(e, "one-warp", SPIN, 1, WARP, fault)) return fault->code;
    if (measure(e, "all-floats", FLOATS, all, e->emulated ? WARP : THREADS, fault))
        return fault->code;
    return measure(e, "all-doubles", DOUBLES, all, e->emulated ? WARP : THREADS, fault);
}

int main(int argc, char **argv)
{
    return experiment_main("06-clocks", "The frequency of the multiprocessors' clock", run, argc,
                           argv);
}
