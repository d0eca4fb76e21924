/*
 * Step 12: a pipeline, close to a copy.
 *
 * What it is: the scan with which this tutorial ends, beyond the documents. Blocks stay, and copies
 * run ahead of them in bulk (pipeline.cuh).
 * Same as step 11 except: a block goes on to further tiles; tiles are copied to shared memory long
 * before they are scanned (barrier.cuh) and their sums published as long before; a prefix is made
 * of sums alone (prefix.cuh); states are never cleared, they carry an epoch (states.cuh); and small
 * and mid-sized n have kernels of their own (wave.cuh).
 * What it fixes: the chain of tiles that wait for each other; the launch that clears the states;
 * and sums of floats are deterministic: bitwise identical in every run.
 * What is still bad: it is long, and its sizes are tuned for an H200. Before Hopper, and for arrays
 * that are not aligned to 16 bytes, the form of step 11 remains (direct.cuh).
 * How to run it: make step12 && ./step12; as a library: scan.h; its tests: make test-step12
 *
 * This file chooses the kernel by shape.h, and launches it.
 */
#include "common/step/gpu.cuh"
#include "common/step/launch_kernel.cuh"
#include "common/step/step.h"
#include "direct.cuh"
#include "pipeline.cuh"
#include "scan.h"
#include "wave.cuh"

#include <cuda_runtime.h>

/* ---- the launches of each kernel ------------------------------------------------------------- */

template <int SEGMENTS, int ROWS, bool ALONE, bool ALIGNED, bool INCLUSIVE, typename In,
          typename Sum>
static cudaError_t launch_wave_of(Sum *out, const In *in, size_t n, const struct gpu *gpu,
                                  struct workspace *w, cudaStream_t stream)
{
    unsigned tiles = (unsigned)tiles_in(n, {SEGMENTS, ROWS}, sizeof(Sum));
    return launch_after(gpu, scan_wave<SEGMENTS, ROWS, ALONE, ALIGNED, INCLUSIVE, In, Sum>, tiles,
                        SEGMENTS * LANES, 0, stream, out, in, n, tiles, w);
}

template <bool ALIGNED, bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_wave(Sum *out, const In *in, size_t n, const struct gpu *gpu,
                               struct workspace *w, cudaStream_t stream)
{
    const int SEGMENTS = FINE_SEGMENTS(sizeof(Sum)), ROWS = FINE_ROWS(sizeof(Sum));
    struct division d = wave_division(n, sizeof(Sum));

    if (tiles_in(n, d, sizeof(Sum)) == 1) // a fine one
        return launch_wave_of<SEGMENTS, ROWS, true, ALIGNED, INCLUSIVE>(out, in, n, gpu, w, stream);
    if (d.segments == SEGMENTS && d.rows == ROWS)
        return launch_wave_of<SEGMENTS, ROWS, false, ALIGNED, INCLUSIVE>(out, in, n, gpu, w,
                                                                         stream);
    if (d.segments == MEDIUM_SEGMENTS)
        return launch_wave_of<MEDIUM_SEGMENTS, MEDIUM_ROWS, false, ALIGNED, INCLUSIVE>(
            out, in, n, gpu, w, stream);
    return launch_wave_of<TILE_SEGMENTS, TILE_ROWS, false, ALIGNED, INCLUSIVE>(out, in, n, gpu, w,
                                                                               stream);
}

/* Does this GPU's shared memory hold the scanned rows of a block for any n, and 1 KiB more? */
template <typename Sum> static bool onchip_holds(const struct gpu *gpu)
{
    return onchip_held_bytes(ONCHIP_MAX_ROWS, sizeof(Sum)) + 1024 <= (size_t)gpu->shared;
}

/* HELD: onchip_holds. */
template <bool HELD, bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_onchip(Sum *out, const In *in, size_t n, bool aligned,
                                 struct workspace *w, cudaStream_t stream)
{
    constexpr auto kernel = scan_onchip<HELD, INCLUSIVE, In, Sum>;
    struct division d = onchip_division(n, sizeof(Sum));
    size_t held = HELD ? onchip_held_bytes(d.rows, sizeof(Sum)) : 0;
    // The most of all n: other threads of the host may set it for other n at the same time.
    size_t most = onchip_held_bytes(ONCHIP_MAX_ROWS, sizeof(Sum));
    cudaError_t error = HELD ? allow_shared((const void *)kernel, most) : cudaSuccess;
    if (error) return error;
    return launch_kernel(kernel, (unsigned)tiles_in(n, d, sizeof(Sum)), ONCHIP_THREADS, held,
                         stream, out, in, n, d.rows / PART_ROWS, aligned, w);
}

template <bool ALIGNED, bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_direct(Sum *out, const In *in, size_t n, const struct gpu *gpu,
                                 struct workspace *w, cudaStream_t stream)
{
    constexpr auto kernel = scan_direct<ALIGNED, INCLUSIVE, In, Sum>;
    size_t tiles = tiles_of(n, sizeof(Sum));
    unsigned blocks;
    cudaError_t error = blocks_for<kernel>(DIRECT_THREADS, 0, tiles, gpu, &blocks);
    if (error) return error;
    return launch_kernel(kernel, blocks, DIRECT_THREADS, 0, stream, out, in, n, (unsigned)tiles, w);
}

template <bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_pipeline(Sum *out, const In *in, size_t n, const struct gpu *gpu,
                                   struct workspace *w, cudaStream_t stream)
{
    constexpr auto kernel = scan_pipeline<INCLUSIVE, In, Sum>;
    size_t tiles = tiles_of(n, sizeof(Sum)), shared = sizeof(ring_of<In, Sum>);
    unsigned blocks;
    cudaError_t error = allow_shared((const void *)kernel, shared);
    if (!error) error = blocks_for<kernel>(PIPELINE_THREADS, shared, tiles, gpu, &blocks);
    if (error) return error;
    return launch_kernel(kernel, blocks, PIPELINE_THREADS, shared, stream, out, in, n,
                         (unsigned)tiles, w);
}

/* ---- the choice of a kernel ------------------------------------------------------------------ */

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

    // If the ring is larger than this GPU's shared memory, scan_direct is used.
    if (kernel == KERNEL_PIPELINE && sizeof(ring_of<In, Sum>) <= (size_t)gpu.shared)
        return launch_pipeline<INCLUSIVE>(out, in, n, &gpu, w, stream);
    if (kernel == KERNEL_WAVE)
        return aligned ? launch_wave<true, INCLUSIVE>(out, in, n, &gpu, w, stream)
                       : launch_wave<false, INCLUSIVE>(out, in, n, &gpu, w, stream);
    // Integers may be added in any order. For them scan_direct is faster if each element is an
    // access of its own, and moves less if scan_onchip would fetch elements twice.
    constexpr bool ANY_ORDER = (Sum)0.5 == 0;
    if (kernel == KERNEL_ONCHIP && onchip_holds<Sum>(&gpu) && (aligned || !ANY_ORDER))
        return launch_onchip<true, INCLUSIVE>(out, in, n, aligned, w, stream);
    if constexpr (!ANY_ORDER)
        if (kernel == KERNEL_ONCHIP)
            return launch_onchip<false, INCLUSIVE>(out, in, n, aligned, w, stream);
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
    }

DEFINE_SCANS(f32, float, float)
DEFINE_SCANS(f64, double, double)
DEFINE_SCANS(i32, int32_t, int32_t)
DEFINE_SCANS(u64, uint64_t, uint64_t)
DEFINE_SCANS(i16, int16_t, int32_t)
DEFINE_SCANS(i8, int8_t, int32_t)
