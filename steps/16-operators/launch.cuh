/*
 * launch.cuh — chooses the kernel for a scan, and launches it.
 */
#ifndef STEP16_LAUNCH_CUH
#define STEP16_LAUNCH_CUH

#include "columns.cuh"
#include "common/step/code_capability.cuh"
#include "common/step/launch_kernel.cuh"
#include "direct.cuh"
#include "pipeline.cuh"

/* Is p a multiple of 16 bytes? NULL is. */
static inline bool aligned_to_16(const void *p) { return (uintptr_t)p % 16 == 0; }

/* The number of blocks that fit on the GPU at a time, but no more than there are tiles. */
static inline cudaError_t blocks_that_fit(const void *kernel, int threads, size_t shared,
                                          unsigned tiles, unsigned *blocks)
{
    int device, multiprocessors = 0, fit = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (!error)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (!error)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, shared);
    if (!error && fit == 0) error = cudaErrorInvalidConfiguration;
    unsigned all = (unsigned)(fit * multiprocessors);
    *blocks = tiles < all ? tiles : all;
    return error;
}

/* Starts a kernel with as many blocks as fit. `shared`: bytes of dynamic shared memory. */
template <typename Job>
static cudaError_t launch_blocks(void (*kernel)(Job), int threads, int shared, unsigned tiles,
                                 const Job &j, cudaStream_t stream)
{
    unsigned blocks;
    const void *address = (const void *)kernel;
    cudaError_t error = cudaSuccess;
    if (shared > 0)
        error = cudaFuncSetAttribute(address, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (!error) error = blocks_that_fit(address, threads, shared, tiles, &blocks);
    if (error) return error;
    return launch_kernel(kernel, blocks, threads, shared, stream, j);
}

/* Bytes of shared memory that a block may have. */
static inline cudaError_t shared_of_a_block(int *bytes)
{
    int device;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;
    return cudaDeviceGetAttribute(bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
}

template <bool HEADED, int R, typename Op>
static cudaError_t launch_direct(const job<Op> &j, cudaStream_t stream)
{
    auto kernel = scan_direct<HEADED, R, Op>;
    return launch_blocks(kernel, DIRECT_THREADS, 0, j.tiles, j, stream);
}

template <bool REVERSE, enum heads HEADS, typename Op>
static cudaError_t launch_pipeline(const job<Op> &j, cudaStream_t stream)
{
    auto kernel = scan_pipeline<REVERSE, HEADS, Op>;
    int shared = sizeof(ring_of<Op, HEADS>);
    return launch_blocks(kernel, PIPELINE_THREADS, shared, j.tiles, j, stream);
}

/* Scans the columns of j.n > 0 elements. */
template <typename Op>
static cudaError_t launch_columns(const job<Op> &j, size_t columns, cudaStream_t stream)
{
    typedef column_shared<Op> Shared;
    auto kernel = scan_columns<Op>;
    column_job<Op> c = {j, column_shape_of(j.n, columns, COLUMN_BYTES<Op>), true};
    int most, shared = (int)sizeof(Shared);
    c.all.tiles = (unsigned)(c.shape.strips * c.shape.tiles);

    cudaError_t error = shared_of_a_block(&most);
    if (error) return error;
    if (shared > most) {
        c.ahead = false;
        shared = (int)(offsetof(Shared, stages) + sizeof(typename Shared::stage));
    }
    return launch_blocks(kernel, COLUMN_THREADS, shared, c.all.tiles, c, stream);
}

/* Scans j.n > 0 elements. HEADS is j.kind. */
template <enum heads HEADS, typename Op>
static cudaError_t launch_scan(job<Op> j, cudaStream_t stream)
{
    const bool HEADED = HEADS != NO_HEADS;
    int rows = rows_for(j.n, WIDEST<Op>), capability, most;
    j.tiles = (unsigned)tiles_with(j.n, rows, WIDEST<Op>);
    j.aligned = aligned_to_16(j.out) && aligned_to_16(j.in) && aligned_to_16(j.in2) &&
                aligned_to_16(j.heads);
    if (rows == FEW_ROWS) return launch_direct<HEADED, FEW_ROWS>(j, stream);

    cudaError_t error = code_capability(&capability);
    if (!error) error = shared_of_a_block(&most);
    if (error) return error;
    // If the ring is larger than this GPU's shared memory, the other kernel is used.
    if (j.aligned && capability >= 90 && j.tiles > MOST_TILES &&
        sizeof(ring_of<Op, HEADS>) <= (size_t)most)
        return j.reverse ? launch_pipeline<true, HEADS>(j, stream)
                         : launch_pipeline<false, HEADS>(j, stream);
    return launch_direct<HEADED, MANY_ROWS>(j, stream);
}

#endif
