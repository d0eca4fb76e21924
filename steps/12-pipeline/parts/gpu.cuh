/*
 * gpu.cuh — what a launch needs to know of the GPU, and how many blocks fit on it at a time.
 *
 * Blocks that stay (as in pipeline.cuh) are launched once for the whole GPU, so their number
 * follows from its properties and not from n.
 */
#ifndef STEP12_GPU_CUH
#define STEP12_GPU_CUH

#include "common/step/code_capability.cuh"

#include <cuda_runtime.h>

struct gpu {
    int capability; /* of the code (code_capability.cuh): 90 for 9.0 */
    int multiprocessors;
    int shared; /* most bytes of shared memory that a block can have */
};

/* The current device. */
static inline cudaError_t look_at_gpu(struct gpu *gpu)
{
    int device;
    cudaError_t error = cudaGetDevice(&device);

    if (!error) error = code_capability(&gpu->capability);
    if (!error)
        error =
            cudaDeviceGetAttribute(&gpu->multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (!error)
        error =
            cudaDeviceGetAttribute(&gpu->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    return error;
}

/* Lets a block of this kernel have up to `bytes` of dynamic shared memory. */
static inline cudaError_t allow_shared(const void *kernel, size_t bytes)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

/* The number of blocks that fit on the GPU at a time, but no more than there are tiles. If not even
 * one fits, cudaErrorInvalidConfiguration. `shared`: bytes of dynamic shared memory of a block. */
static inline cudaError_t blocks_for(const void *kernel, int threads, size_t shared, size_t tiles,
                                     const struct gpu *gpu, unsigned *blocks)
{
    int fit = 0;
    cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, shared);
    size_t all = (size_t)fit * gpu->multiprocessors;
    *blocks = (unsigned)(tiles < all ? tiles : all);
    return !error && fit == 0 ? cudaErrorInvalidConfiguration : error;
}

#endif
