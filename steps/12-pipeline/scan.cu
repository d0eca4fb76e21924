/*
 * Step 12: a pipeline, as fast as a copy.
 *
 * What it is: the scan with which this tutorial ends, beyond the documents. Blocks stay, and copies
 * run ahead of them in bulk (pipeline.cuh).
 * Same as step 11 except: a block goes on to further tiles; tiles are copied to shared memory long
 * before they are scanned (barrier.cuh, ring.cuh) and their sums published as long before; a prefix
 * is made of sums alone (prefix.cuh); states are never cleared, they carry an epoch (states.cuh);
 * and small and middling n have kernels of their own (wave.cuh, onchip.cuh).
 * What it fixes: the chain of tiles that wait for each other; the launch that clears the states;
 * and sums of floats are the same in every bit in every run.
 * What is still bad: it is long, and its sizes are an H200's. Before Hopper, and for arrays that
 * are not aligned to 16 bytes, the form of step 11 remains (direct.cuh).
 * How to run it: make step12 && ./step12, ./step12 --variant f64; or as a library: scan.h.
 *
 * This file launches the kernel that shape.h chooses.
 */
#include "scan.h"
#include "common/harness/step.h"
#include "direct.cuh"
#include "onchip.cuh"
#include "pipeline.cuh"
#include "wave.cuh"

/* GPU properties that the launch needs. */
struct gpu {
    int capability; /* compute capability: 90 for 9.0 */
    int multiprocessors;
    int shared; /* bytes of shared memory that a block may have */
};

static cudaError_t look_at_gpu(struct gpu *gpu)
{
    int device, major = 0, minor = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (!error) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (!error) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (!error)
        error =
            cudaDeviceGetAttribute(&gpu->multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (!error)
        error =
            cudaDeviceGetAttribute(&gpu->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    gpu->capability = 10 * major + minor;
    return error;
}

/* The number of blocks that fit on the GPU at a time, but no more than there are tiles. */
static cudaError_t blocks_for(const void *kernel, int threads, size_t shared, size_t tiles,
                              const struct gpu *gpu, unsigned *blocks)
{
    int fit = 0;
    cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, shared);
    size_t all = (size_t)fit * gpu->multiprocessors;
    *blocks = (unsigned)(tiles < all ? tiles : all);
    return !error && fit == 0 ? cudaErrorInvalidConfiguration : error;
}

template <int SEGMENTS, int ROWS, bool ALONE, bool ALIGNED, bool INCLUSIVE, typename In,
          typename Sum>
static cudaError_t launch_wave_of(Sum *out, const In *in, size_t n, struct workspace *w,
                                  cudaStream_t stream)
{
    unsigned tiles = (unsigned)tiles_in(n, {SEGMENTS, ROWS}, sizeof(Sum));
    scan_wave<SEGMENTS, ROWS, ALONE, ALIGNED, INCLUSIVE>
        <<<tiles, SEGMENTS * LANES, 0, stream>>>(out, in, n, tiles, w);
    return cudaGetLastError();
}

template <bool ALIGNED, bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_wave(Sum *out, const In *in, size_t n, struct workspace *w,
                               cudaStream_t stream)
{
    const int SEGMENTS = FINE_SEGMENTS(sizeof(Sum)), ROWS = FINE_ROWS(sizeof(Sum));
    struct division d = wave_division(n, sizeof(Sum));

    if (tiles_in(n, d, sizeof(Sum)) == 1) // a fine one
        return launch_wave_of<SEGMENTS, ROWS, true, ALIGNED, INCLUSIVE>(out, in, n, w, stream);
    if (d.segments == SEGMENTS && d.rows == ROWS)
        return launch_wave_of<SEGMENTS, ROWS, false, ALIGNED, INCLUSIVE>(out, in, n, w, stream);
    if (d.segments == MIDDLING_SEGMENTS)
        return launch_wave_of<MIDDLING_SEGMENTS, MIDDLING_ROWS, false, ALIGNED, INCLUSIVE>(
            out, in, n, w, stream);
    if (d.segments == LARGE_SEGMENTS)
        return launch_wave_of<LARGE_SEGMENTS, LARGE_ROWS, false, ALIGNED, INCLUSIVE>(out, in, n, w,
                                                                                     stream);
    return launch_wave_of<TILE_SEGMENTS, TILE_ROWS, false, ALIGNED, INCLUSIVE>(out, in, n, w,
                                                                               stream);
}

template <bool HELD, bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_onchip_of(Sum *out, const In *in, size_t n, bool aligned,
                                    struct workspace *w, cudaStream_t stream)
{
    struct division d = onchip_division(n, sizeof(Sum));
    unsigned tiles = (unsigned)tiles_in(n, d, sizeof(Sum));
    size_t held = HELD ? onchip_held_bytes(d.rows, sizeof(Sum)) : 0;

    if (HELD) {
        // The most of all n: other threads of the host may set it for other n at the same time.
        size_t most = onchip_held_bytes(ONCHIP_MAX_ROWS, sizeof(Sum));
        cudaError_t error =
            cudaFuncSetAttribute((const void *)scan_onchip<HELD, INCLUSIVE, In, Sum>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most);
        if (error) return error;
    }
    scan_onchip<HELD, INCLUSIVE>
        <<<tiles, ONCHIP_THREADS, held, stream>>>(out, in, n, d.rows / PART_ROWS, aligned, w);
    return cudaGetLastError();
}

/* Holds the scanned rows if they, and 1 KiB for the rest, fit into this GPU's shared memory. */
template <bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_onchip(Sum *out, const In *in, size_t n, bool aligned,
                                 const struct gpu *gpu, struct workspace *w, cudaStream_t stream)
{
    if (onchip_held_bytes(ONCHIP_MAX_ROWS, sizeof(Sum)) + 1024 <= (size_t)gpu->shared)
        return launch_onchip_of<true, INCLUSIVE>(out, in, n, aligned, w, stream);
    return launch_onchip_of<false, INCLUSIVE>(out, in, n, aligned, w, stream);
}

template <bool ALIGNED, bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_direct(Sum *out, const In *in, size_t n, const struct gpu *gpu,
                                 struct workspace *w, cudaStream_t stream)
{
    size_t tiles = tiles_of(n, sizeof(Sum));
    unsigned blocks;
    cudaError_t error = blocks_for((const void *)scan_direct<ALIGNED, INCLUSIVE, In, Sum>,
                                   DIRECT_THREADS, 0, tiles, gpu, &blocks);
    if (error) return error;
    scan_direct<ALIGNED, INCLUSIVE>
        <<<blocks, DIRECT_THREADS, 0, stream>>>(out, in, n, (unsigned)tiles, w);
    return cudaGetLastError();
}

template <bool INCLUSIVE, typename In, typename Sum>
static cudaError_t pipeline_blocks(size_t n, const struct gpu *gpu, unsigned *blocks)
{
    const void *kernel = (const void *)scan_pipeline<INCLUSIVE, In, Sum>;
    size_t tiles = tiles_of(n, sizeof(Sum)), shared = sizeof(ring_of<In, Sum>);
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    return error ? error : blocks_for(kernel, PIPELINE_THREADS, shared, tiles, gpu, blocks);
}

template <bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_pipeline(Sum *out, const In *in, size_t n, const struct gpu *gpu,
                                   struct workspace *w, cudaStream_t stream)
{
    unsigned blocks;
    cudaError_t error = pipeline_blocks<INCLUSIVE, In, Sum>(n, gpu, &blocks);
    if (error) return error;
    scan_pipeline<INCLUSIVE><<<blocks, PIPELINE_THREADS, sizeof(ring_of<In, Sum>), stream>>>(
        out, in, n, (unsigned)tiles_of(n, sizeof(Sum)), w);
    return cudaGetLastError();
}

/* The launch for large n on this GPU, for the report of ./step12. */
template <typename In, typename Sum> static cudaError_t large_shape(size_t n, launch_shape *shape)
{
    const void *direct = (const void *)scan_direct<true, false, In, Sum>;
    struct cudaFuncAttributes about;
    struct gpu gpu;
    unsigned blocks;
    cudaError_t error = look_at_gpu(&gpu);

    if (error == cudaSuccess && gpu.capability >= 90) {
        error = pipeline_blocks<false, In, Sum>(n, &gpu, &blocks);
        if (!error) *shape = {blocks, PIPELINE_THREADS, sizeof(ring_of<In, Sum>), 1};
        return error;
    }
    if (!error) error = cudaFuncGetAttributes(&about, direct);
    if (!error)
        error = blocks_for(direct, DIRECT_THREADS, 0, tiles_of(n, sizeof(Sum)), &gpu, &blocks);
    if (!error) *shape = {blocks, DIRECT_THREADS, about.sharedSizeBytes, 1};
    return error;
}

/* The two-phase call of scan.h. */
template <bool INCLUSIVE, typename In, typename Sum>
static cudaError_t scan(void *workspace, size_t *bytes, Sum *out, const In *in, size_t n,
                        cudaStream_t stream)
{
    size_t tiles = tiles_of(n, sizeof(Sum));
    size_t needed = sizeof(struct workspace) + states_for(n, sizeof(Sum)) * sizeof(state<Sum>);
    struct workspace *w = (struct workspace *)workspace;
    struct gpu gpu;

    if (workspace == NULL) {
        *bytes = needed;
        return cudaSuccess;
    }
    if (n == 0) return cudaSuccess;
    if (*bytes < needed || (uintptr_t)workspace % 16) return cudaErrorInvalidValue;
    if (tiles > UINT32_MAX / 2) return cudaErrorInvalidValue; // tickets are of 32 bits

    cudaError_t error = look_at_gpu(&gpu);
    if (error) return error;
    bool aligned = ((uintptr_t)in | (uintptr_t)out) % 16 == 0;
    enum kernel kernel = kernel_for(n, sizeof(Sum), gpu.capability, aligned);

    // A ring that is larger than this GPU's shared memory is not an error: the other kernel is
    // used.
    if (kernel == KERNEL_PIPELINE) {
        error = launch_pipeline<INCLUSIVE>(out, in, n, &gpu, w, stream);
        if (error != cudaErrorInvalidValue) return error;
        (void)cudaGetLastError();
    }
    if (kernel == KERNEL_WAVE)
        return aligned ? launch_wave<true, INCLUSIVE>(out, in, n, w, stream)
                       : launch_wave<false, INCLUSIVE>(out, in, n, w, stream);
    // Integers may be added in any order. If each element is an access of its own, scan_direct is
    // faster.
    bool any_order = (Sum)0.5 == 0;
    if (kernel == KERNEL_ONCHIP && (aligned || !any_order))
        return launch_onchip<INCLUSIVE>(out, in, n, aligned, &gpu, w, stream);
    return aligned ? launch_direct<true, INCLUSIVE>(out, in, n, &gpu, w, stream)
                   : launch_direct<false, INCLUSIVE>(out, in, n, &gpu, w, stream);
}

cudaError_t scan_workspace_init(void *workspace, size_t bytes, cudaStream_t stream)
{
    return cudaMemsetAsync(workspace, 0, bytes, stream);
}

#define DEFINE_SCANS(name, In, Sum)                                                                \
    cudaError_t scan_exclusive_##name(void *workspace, size_t *bytes, Sum *out, const In *in,      \
                                      size_t n, cudaStream_t stream)                               \
    {                                                                                              \
        return scan<false>(workspace, bytes, out, in, n, stream);                                  \
    }                                                                                              \
    cudaError_t scan_inclusive_##name(void *workspace, size_t *bytes, Sum *out, const In *in,      \
                                      size_t n, cudaStream_t stream)                               \
    {                                                                                              \
        return scan<true>(workspace, bytes, out, in, n, stream);                                   \
    }                                                                                              \
    extern "C" cudaError_t step12_large_##name(size_t n, struct launch_shape *shape)               \
    {                                                                                              \
        return large_shape<In, Sum>(n, shape);                                                     \
    }

DEFINE_SCANS(f32, float, float)
DEFINE_SCANS(f64, double, double)
DEFINE_SCANS(i32, int32_t, int32_t)
DEFINE_SCANS(u64, uint64_t, uint64_t)
DEFINE_SCANS(i16, int16_t, int32_t)
DEFINE_SCANS(i8, int8_t, int32_t)
