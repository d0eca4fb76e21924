/*
 * roof.cu — the copies against which scans are measured.
 */
#include "common/step/cuda_check.h"
#include "common/step/launch_kernel.cuh"
#include "roof.h"

#include <stdint.h>

#define COPY_THREADS 256

/* One float4 (16 bytes) per thread. */
static __global__ void copy_float4(float4 *to, const float4 *from, size_t vectors)
{
    size_t i = (size_t)blockIdx.x * COPY_THREADS + threadIdx.x;
    if (i < vectors) to[i] = from[i];
}

static cudaError_t copy_memcpy(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

extern "C" cudaError_t roof_copy_rest(void *to, const void *from, size_t done, size_t bytes,
                                      cudaStream_t stream)
{
    if (done == bytes) return cudaSuccess;
    return copy_memcpy((char *)to + done, (const char *)from + done, bytes - done, stream);
}

extern "C" cudaError_t roof_copy_kernel(void *to, const void *from, size_t bytes,
                                        cudaStream_t stream)
{
    size_t vectors = bytes / sizeof(float4);
    unsigned blocks = (unsigned)((vectors + COPY_THREADS - 1) / COPY_THREADS);
    if (((uintptr_t)to | (uintptr_t)from) % ROOF_ALIGNMENT) return cudaErrorMisalignedAddress;
    if (blocks)
        CUDA_TRY(launch_kernel(copy_float4, blocks, COPY_THREADS, 0, stream, (float4 *)to,
                               (const float4 *)from, vectors));
    return roof_copy_rest(to, from, vectors * sizeof(float4), bytes, stream);
}

extern "C" const struct roof_way roof_ways[ROOF_WAYS] = {{"cudaMemcpyAsync", copy_memcpy},
                                                         {"float4 kernel", roof_copy_kernel},
                                                         {"bulk copies", roof_copy_bulk}};

struct copy {
    copy_fn *copy;
    void *to;
    const void *from;
    size_t bytes;
};

static cudaError_t run_copy(void *context, cudaStream_t stream)
{
    const struct copy *copy = (const struct copy *)context;
    return copy->copy(copy->to, copy->from, copy->bytes, stream);
}

extern "C" int roof_measure(struct timer *timer, void *to, const void *from, size_t bytes, int reps,
                            struct roof *roof, struct fault *fault)
{
    struct roof none = {};
    *roof = none;
    roof->bytes = bytes;
    for (int way = 0; way < ROOF_WAYS; way++) {
        struct copy copy = {roof_ways[way].copy, to, from, bytes};
        struct timing timing;
        int code = timer_run(timer, NULL, run_copy, &copy, reps, &timing, fault);
        if (code) return code;
        if (roof->how != NULL && timing.median >= roof->timing.median) continue;
        roof->timing = timing;
        roof->how = roof_ways[way].name;
    }
    return 0;
}
