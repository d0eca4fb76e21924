/*
 * launch.cuh — chooses the kernel for a scan, and launches it.
 */
#ifndef STEP16_LAUNCH_CUH
#define STEP16_LAUNCH_CUH

#include "columns.cuh"
#include "common/step/launch_kernel.cuh"
#include "direct.cuh"
#include "pipeline.cuh"
#include "rows.cuh"
#include "steps/12-pipeline/parts/gpu.cuh"
#include "wave.cuh"

/* Is p a multiple of 16 bytes? NULL is. */
static inline bool aligned_to_16(const void *p) { return (uintptr_t)p % 16 == 0; }

template <typename T> static inline bool aligned_to_16(two_places<T> p)
{
    return aligned_to_16(p.values) && aligned_to_16(p.indices);
}

/* Starts a kernel with as many blocks as fit. `shared`: bytes of dynamic shared memory. */
template <auto KERNEL, typename Job>
static cudaError_t launch_blocks(int threads, size_t shared, unsigned tiles, const Job &j,
                                 const struct gpu *gpu, cudaStream_t stream)
{
    unsigned blocks;
    cudaError_t error = shared > 0 ? allow_shared((const void *)KERNEL, shared) : cudaSuccess;
    if (!error) error = blocks_for<KERNEL>(threads, shared, tiles, gpu, &blocks);
    if (error) return error;
    return launch_kernel(KERNEL, blocks, threads, shared, stream, j);
}

template <bool HEADED, typename Op>
static cudaError_t launch_direct(const job<Op> &j, const struct gpu *gpu, cudaStream_t stream)
{
    constexpr auto kernel = scan_direct<HEADED, Op>;
    return launch_blocks<kernel>(DIRECT_THREADS, 0, j.tiles, j, gpu, stream);
}

template <bool REVERSE, enum heads HEADS, typename Op>
static cudaError_t launch_pipeline(const job<Op> &j, const struct gpu *gpu, cudaStream_t stream)
{
    constexpr auto kernel = scan_pipeline<REVERSE, HEADS, Op>;
    size_t shared = sizeof(ring_of<Op, HEADS>);
    return launch_blocks<kernel>(PIPELINE_THREADS, shared, j.tiles, j, gpu, stream);
}

/* Scans the columns of j.n > 0 elements. */
template <typename Op>
static cudaError_t launch_columns(const job<Op> &j, size_t columns, cudaStream_t stream)
{
    typedef column_shared<Op> Shared;
    constexpr auto kernel = scan_columns<Op>;
    column_job<Op> c = {j, column_shape_of(j.n, columns, COLUMN_BYTES<Op>), true};
    size_t shared = sizeof(Shared);
    struct gpu gpu;
    c.all.tiles = (unsigned)(c.shape.strips * c.shape.tiles);

    cudaError_t error = look_at_gpu(&gpu);
    if (error) return error;
    if (shared > (size_t)gpu.shared) {
        c.ahead = false;
        shared = offsetof(Shared, stages) + sizeof(typename Shared::stage);
    }
    return launch_blocks<kernel>(COLUMN_THREADS, shared, c.all.tiles, c, &gpu, stream);
}

/* Scans j.n > 0 elements. HEADS is j.kind, or BITS for ROWS. */
template <enum heads HEADS, typename Op>
static cudaError_t launch_scan(job<Op> j, cudaStream_t stream)
{
    const bool HEADED = HEADS != NO_HEADS;
    struct tiling tiling = tiling_of(j.n, j.kind == ROWS ? j.row : 0, WIDEST<Op>);
    struct gpu gpu;
    j.tiles = (unsigned)tiling.tiles, j.tile = tiling.tile;
    j.aligned = aligned_to_16(j.out) && aligned_to_16(j.in) && aligned_to_16(j.in2) &&
                aligned_to_16(j.heads);
    if (tiling.kind == TILES_APART) {
        j.rows = row_heads_of(j.row);
        return launch_kernel(scan_rows<Op>, j.tiles, tiling.segments * LANES, 0, stream, j);
    }
    if (tiling.kind == TILES_OF_WAVE)
        return launch_kernel(scan_wave<HEADED, Op>, j.tiles, tiling.segments * LANES, 0, stream, j);

    cudaError_t error = look_at_gpu(&gpu);
    if (error) return error;
    // If the ring is larger than this GPU's shared memory, the other kernel is used.
    if (j.aligned && gpu.capability >= 90 && sizeof(ring_of<Op, HEADS>) <= (size_t)gpu.shared)
        return j.reverse ? launch_pipeline<true, HEADS>(j, &gpu, stream)
                         : launch_pipeline<false, HEADS>(j, &gpu, stream);
    return launch_direct<HEADED>(j, &gpu, stream);
}

#endif
