/*
 * bytes-under-way: how many warps a copy needs, and how many bytes per warp.
 *
 * What it shows: the time of a copy with fewer and fewer resident blocks per multiprocessor (each
 * block reserves shared memory that it does not use) and with 4, 8 and 16 bytes per load. Occupancy
 * alone does not decide: half the warps with twice the bytes per load are as fast.
 * From: Kepler tuning guide, 1.4.1 (occupancy, or else instruction-level parallelism); GPU Gems 3,
 * 39.2.5 (float4).
 * How to run it: make experiment-06-bytes-under-way
 */
#include "common/experiment/experiment.h"

#include <stdlib.h>
#include <string.h>

#define THREADS     256
#define WARP        32
#define MOST_BLOCKS 8 // of THREADS threads, per multiprocessor

template <typename vector> static __global__ void copy(void *out, const void *in)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    ((vector *)out)[i] = ((const vector *)in)[i];
}

static const struct {
    const char *name;
    void (*run)(void *, const void *);
    size_t bytes;
} widths[] = {{"float", copy<float>, sizeof(float)},
              {"float2", copy<float2>, sizeof(float2)},
              {"float4", copy<float4>, sizeof(float4)}};

struct work {
    int width;
    size_t bytes, shared; // bytes copied, and shared memory per block
    char *out, *in;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct work *w = (struct work *)context;
    size_t blocks = w->bytes / widths[w->width].bytes / THREADS;
    widths[w->width].run<<<blocks, THREADS, w->shared, stream>>>(w->out, w->in);
    return cudaGetLastError();
}

static int measure(struct experiment *e, struct work *w, int blocks, char *host, const char *want,
                   struct fault *fault)
{
    double seconds;
    int fit, memory, reserved;
    CUDA_CHECK(fault,
               cudaDeviceGetAttribute(&memory, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
    CUDA_CHECK(fault,
               cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0));
    // With this much shared memory per block, `blocks` blocks fill the multiprocessor.
    w->shared = memory / blocks - reserved;
    if (blocks == MOST_BLOCKS) w->shared = 0;
    CUDA_CHECK(fault,
               cudaFuncSetAttribute((const void *)widths[w->width].run,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, (int)w->shared));
    CUDA_CHECK(fault, cudaFuncSetAttribute((const void *)widths[w->width].run,
                                           cudaFuncAttributePreferredSharedMemoryCarveout,
                                           cudaSharedmemCarveoutMaxShared));
    CUDA_CHECK(fault, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, widths[w->width].run,
                                                                    THREADS, w->shared));
    CUDA_CHECK(fault, cudaMemset(w->out, 0, w->bytes));
    experiment_at(e, widths[w->width].name, "%d", fit * THREADS / WARP);
    if (experiment_measure(e, launch, w, &seconds, fault)) return fault->code;
    if (!e->emulated) experiment_value(e, "rate", 2 * w->bytes / seconds, "B/s");
    CUDA_CHECK(fault, cudaMemcpy(host, w->out, w->bytes, cudaMemcpyDeviceToHost));
    if (memcmp(host, want, w->bytes) != 0)
        return fail(fault, EXIT_WRONG, "%s: what was copied is not the same.",
                    widths[w->width].name);
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "half the warps with twice the bytes per load reach the same rate.";
    struct work w = {};
    w.bytes = e->emulated ? 1 << 14 : 1 << 27;
    char *host = (char *)malloc(w.bytes), *want = (char *)malloc(w.bytes);
    CUDA_CHECK(fault, cudaMalloc(&w.in, w.bytes));
    CUDA_CHECK(fault, cudaMalloc(&w.out, w.bytes));
    for (size_t i = 0; i < w.bytes; i++) want[i] = i % 127;
    CUDA_CHECK(fault, cudaMemcpy(w.in, want, w.bytes, cudaMemcpyHostToDevice));
    for (w.width = 0; w.width < 3; w.width++)
        for (int blocks = 1; blocks <= MOST_BLOCKS; blocks *= 2)
            if (measure(e, &w, blocks, host, want, fault)) return fault->code;
    free(host);
    free(want);
    CUDA_CHECK(fault, cudaFree(w.in));
    CUDA_CHECK(fault, cudaFree(w.out));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("06-bytes-under-way",
                           "How many warps a copy needs, and how many bytes per warp", run, argc,
                           argv);
}
