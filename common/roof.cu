/*
 * roof.cu — the copies against which scans are measured.
 */
#include "cuda_check.h"
#include "roof.h"

#include <stdint.h>

#define COPY_THREADS 256

/* One float4 (16 bytes) a thread. */
static __global__ void copy_float4(float4 *to, const float4 *from, size_t vectors)
{
    size_t i = (size_t)blockIdx.x * COPY_THREADS + threadIdx.x;
    if (i < vectors) to[i] = from[i];
}

extern "C" cudaError_t roof_copy_kernel(void *to, const void *from, size_t bytes,
                                        cudaStream_t stream)
{
    size_t vectors = bytes / sizeof(float4), copied = vectors * sizeof(float4);
    unsigned blocks = (unsigned)((vectors + COPY_THREADS - 1) / COPY_THREADS);
    if (((uintptr_t)to | (uintptr_t)from) % ROOF_ALIGNMENT) return cudaErrorMisalignedAddress;
    if (blocks) {
        copy_float4<<<blocks, COPY_THREADS, 0, stream>>>((float4 *)to, (const float4 *)from,
                                                         vectors);
        CUDA_TRY(cudaGetLastError());
    }
    if (copied < bytes)
        CUDA_TRY(cudaMemcpyAsync((char *)to + copied, (const char *)from + copied, bytes - copied,
                                 cudaMemcpyDeviceToDevice, stream));
    return cudaSuccess;
}

struct copy {
    void *to;
    const void *from;
    size_t bytes;
};

static cudaError_t run_memcpy(void *context, cudaStream_t stream)
{
    const struct copy *copy = (const struct copy *)context;
    return cudaMemcpyAsync(copy->to, copy->from, copy->bytes, cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t run_kernel(void *context, cudaStream_t stream)
{
    const struct copy *copy = (const struct copy *)context;
    return roof_copy_kernel(copy->to, copy->from, copy->bytes, stream);
}

extern "C" int roof_measure(struct timer *timer, void *to, const void *from, size_t bytes, int reps,
                            struct roof *roof, struct fault *fault)
{
    struct copy copy = {to, from, bytes};
    struct timing kernel;
    roof->bytes = bytes;
    roof->how = "cudaMemcpyAsync";
    int code = timer_run(timer, NULL, run_memcpy, &copy, reps, &roof->timing, fault);
    if (!code) code = timer_run(timer, NULL, run_kernel, &copy, reps, &kernel, fault);
    if (code) return code;
    if (kernel.median < roof->timing.median) {
        roof->timing = kernel;
        roof->how = "float4 kernel";
    }
    return 0;
}
