/*
 * launch.cuh — launches each of step 12's kernels, for the GPU that is there.
 */
#ifndef STEP12_LAUNCH_CUH
#define STEP12_LAUNCH_CUH

#include "common/step/launch_kernel.cuh"
#include "direct.cuh"
#include "onchip.cuh"
#include "parts/gpu.cuh"
#include "pipeline.cuh"
#include "wave.cuh"

#include <cuda_runtime.h>

/* A wave may begin while the kernel before it in the stream still runs, and waits for it by itself
 * (wait_for_kernel_before). Only code for Hopper waits so. */
template <int SEGMENTS, int ROWS, bool ALONE, bool ALIGNED, bool INCLUSIVE, typename In,
          typename Sum>
static cudaError_t launch_wave_of(Sum *out, const In *in, size_t n, const struct gpu *gpu,
                                  struct workspace *w, cudaStream_t stream)
{
    unsigned tiles = (unsigned)tiles_in(n, {SEGMENTS, ROWS}, sizeof(Sum));
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = tiles;
    config.blockDim = SEGMENTS * LANES;
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = gpu->capability >= 90;
    return cudaLaunchKernelEx(&config,
                              scan_wave<SEGMENTS, ROWS, ALONE, ALIGNED, INCLUSIVE, In, Sum>, out,
                              in, n, tiles, w);
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
    struct division d = onchip_division(n, sizeof(Sum));
    unsigned tiles = (unsigned)tiles_in(n, d, sizeof(Sum));
    size_t held = HELD ? onchip_held_bytes(d.rows, sizeof(Sum)) : 0;

    if (HELD) {
        // The most of all n: other threads of the host may set it for other n at the same time.
        size_t most = onchip_held_bytes(ONCHIP_MAX_ROWS, sizeof(Sum));
        cudaError_t error = allow_shared((const void *)scan_onchip<HELD, INCLUSIVE, In, Sum>, most);
        if (error) return error;
    }
    return launch_kernel(scan_onchip<HELD, INCLUSIVE, In, Sum>, tiles, ONCHIP_THREADS, held, stream,
                         out, in, n, d.rows / PART_ROWS, aligned, w);
}

template <bool ALIGNED, bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_direct(Sum *out, const In *in, size_t n, const struct gpu *gpu,
                                 struct workspace *w, cudaStream_t stream)
{
    size_t tiles = tiles_of(n, sizeof(Sum));
    unsigned blocks;
    cudaError_t error = blocks_for<scan_direct<ALIGNED, INCLUSIVE, In, Sum>>(DIRECT_THREADS, 0,
                                                                             tiles, gpu, &blocks);
    if (error) return error;
    return launch_kernel(scan_direct<ALIGNED, INCLUSIVE, In, Sum>, blocks, DIRECT_THREADS, 0,
                         stream, out, in, n, (unsigned)tiles, w);
}

template <bool INCLUSIVE, typename In, typename Sum>
static cudaError_t pipeline_blocks(size_t n, const struct gpu *gpu, unsigned *blocks)
{
    constexpr auto kernel = scan_pipeline<INCLUSIVE, In, Sum>;
    size_t tiles = tiles_of(n, sizeof(Sum)), shared = sizeof(ring_of<In, Sum>);
    cudaError_t error = allow_shared((const void *)kernel, shared);
    return error ? error : blocks_for<kernel>(PIPELINE_THREADS, shared, tiles, gpu, blocks);
}

template <bool INCLUSIVE, typename In, typename Sum>
static cudaError_t launch_pipeline(Sum *out, const In *in, size_t n, const struct gpu *gpu,
                                   struct workspace *w, cudaStream_t stream)
{
    unsigned blocks;
    cudaError_t error = pipeline_blocks<INCLUSIVE, In, Sum>(n, gpu, &blocks);
    if (error) return error;
    return launch_kernel(scan_pipeline<INCLUSIVE, In, Sum>, blocks, PIPELINE_THREADS,
                         sizeof(ring_of<In, Sum>), stream, out, in, n,
                         (unsigned)tiles_of(n, sizeof(Sum)), w);
}

#endif
