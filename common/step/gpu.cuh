/*
 * gpu.cuh — what a launch needs to know of the GPU, and how many blocks fit on it at a time.
 *
 * Blocks that stay (as in pipeline.cuh) are launched once for the whole GPU, so their number
 * follows from its properties and not from n.
 *
 * The queries of the runtime that a call needs take the host about a microsecond, together a
 * quarter to a third as long as a launch (step 16's experiment call-cost). So each is made once for
 * a device, and its answer is kept. What is kept depends on the code and the device alone, so it
 * outlasts cudaDeviceReset(). What a reset forgets is set at each call (allow_shared).
 */
#ifndef GPU_CUH
#define GPU_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

enum { GPU_DEVICES = 64 }; /* of devices with a higher number, no answers are kept */

/* The answers to one query, by device; 0: not asked yet. Several threads of the host may ask at the
 * same time, and all get the same answer. */
struct answers {
    int of[GPU_DEVICES];
};

static inline int known_answer(const struct answers *known, int device)
{
    return device < GPU_DEVICES ? __atomic_load_n(&known->of[device], __ATOMIC_RELAXED) : 0;
}

static inline void keep_answer(struct answers *known, int device, int answer)
{
    if (device < GPU_DEVICES) __atomic_store_n(&known->of[device], answer, __ATOMIC_RELAXED);
}

static inline cudaError_t ask_attribute(struct answers *known, enum cudaDeviceAttr attribute,
                                        int device, int *value)
{
    *value = known_answer(known, device);
    if (*value > 0) return cudaSuccess;
    cudaError_t error = cudaDeviceGetAttribute(value, attribute, device);
    if (!error) keep_answer(known, device, *value);
    return error;
}

/* The kernel that the runtime is asked about. It has the code of this source file. */
static __global__ void code_of_this_file() {}

/* Sets *capability to __CUDA_ARCH__ / 10 of this source file's code for the current device: 90 for
 * 9.0. A GPU also runs code that was compiled for an older one: machine code of its own generation,
 * or PTX of any, from which the driver makes machine code. What such code has in it was decided by
 * __CUDA_ARCH__ when nvcc compiled it. So a kernel, and how it is launched, is chosen by the
 * capability of the code. That of the GPU may be higher. If a kernel's body differs by
 * __CUDA_ARCH__, the body that was left out is __trap(): it must not return as if it had worked. */
static inline cudaError_t ask_capability(int device, int *capability)
{
    static struct answers known;
    struct cudaFuncAttributes code;
    *capability = known_answer(&known, device);
    if (*capability > 0) return cudaSuccess;
    cudaError_t error = cudaFuncGetAttributes(&code, (const void *)code_of_this_file);
    if (error) return error;
    *capability = code.ptxVersion;
    keep_answer(&known, device, *capability);
    return cudaSuccess;
}

struct gpu {
    int device;     /* its number */
    int capability; /* of the code: 90 for 9.0 */
    int multiprocessors;
    int shared; /* most bytes of shared memory that a block can have */
};

/* The current device. Allowed while a stream is captured. */
static inline cudaError_t look_at_gpu(struct gpu *gpu)
{
    static struct answers multiprocessors, shared;
    cudaError_t error = cudaGetDevice(&gpu->device);

    if (!error) error = ask_capability(gpu->device, &gpu->capability);
    if (!error)
        error = ask_attribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu->device,
                              &gpu->multiprocessors);
    if (!error)
        error = ask_attribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu->device,
                              &gpu->shared);
    return error;
}

/* Lets a block of this kernel have up to `bytes` of dynamic shared memory. */
static inline cudaError_t allow_shared(const void *kernel, size_t bytes)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

/* The number of blocks of KERNEL that fit on the GPU at a time, but no more than there are tiles.
 * If not even one fits, cudaErrorInvalidConfiguration. `shared`: bytes of dynamic shared memory of
 * a block; on a device it must always be the same for a kernel, and so must the threads. */
template <auto KERNEL>
static cudaError_t blocks_for(int threads, size_t shared, size_t tiles, const struct gpu *gpu,
                              unsigned *blocks)
{
    static struct answers known;
    int fit = known_answer(&known, gpu->device);
    cudaError_t error = cudaSuccess;
    if (fit == 0) {
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, KERNEL, threads, shared);
        if (!error) keep_answer(&known, gpu->device, fit);
    }
    size_t all = (size_t)fit * gpu->multiprocessors;
    *blocks = (unsigned)(tiles < all ? tiles : all);
    return !error && fit == 0 ? cudaErrorInvalidConfiguration : error;
}

/* Launches a kernel as launch_kernel.cuh does, except: it may begin while the kernel before it in
 * the stream still runs, and waits for it by itself (wait_for_kernel_before). Only code for Hopper
 * waits so. */
template <typename... Parameters, typename... Arguments>
static cudaError_t launch_after(const struct gpu *gpu, void (*kernel)(Parameters...), size_t blocks,
                                unsigned threads, size_t shared, cudaStream_t stream,
                                const Arguments &...arguments)
{
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = gpu->capability >= 90;
    if (blocks > INT32_MAX) return cudaErrorInvalidValue; // beyond any grid
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* What the kernel before this one in the stream has stored is there. */
[[maybe_unused]] static __device__ void wait_for_kernel_before()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The blocks of the next kernel may take the place of blocks that end, and wait for this kernel. */
[[maybe_unused]] static __device__ void let_next_kernel_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#endif
