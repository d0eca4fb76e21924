/*
 * scan.cuh — scans with an operator of one's own, for programs in C++ that nvcc compiles.
 *
 *     scan<sum_operator<float>>({}, workspace, &bytes, out, in, NULL, n, &options, stream);
 *
 * Op is a struct as operators.cuh describes: it must be associative, which scan_check_operator
 * (check.cuh) tests. An object of it is given, because an operator may have parameters. in2 is NULL
 * if Op::In2 is no_input. Everything else is as scan.h says. ALL_HEADS: also heads as bytes and as
 * keys, which take four kernels more; otherwise these return cudaErrorNotSupported.
 *
 * All but scan() and the operators is in namespace step16.
 */
#ifndef STEP16_SCAN_CUH
#define STEP16_SCAN_CUH

#include "more_operators.cuh"
#include "scan.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <math.h>
#include <string.h>

namespace step16
{
#include "columns.cuh"
#include "common/step/launch_kernel.cuh"
#include "steps/16-operators/direct.cuh"
#include "pairs.cuh"
#include "pipeline.cuh"
#include "common/step/gpu.cuh"
#include "wave.cuh"

/* ---- launches -------------------------------------------------------------------------------- */

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

/* Scans rows that are cut into parts: j.tiles parts in all, each of `warp_rows` rows of a warp. */
template <typename Op>
static cudaError_t launch_long_rows(const job<Op> &j, int warp_rows, cudaStream_t stream)
{
    const int R = LONG_ROWS<Op>;
    int threads = (warp_rows + R - 1) / R * LANES;
    size_t rows = j.n / j.row;
    unsigned parts = (unsigned)(j.tiles / rows);
    struct gpu gpu;
    cudaError_t error = look_at_gpu(&gpu);
    if (error) return error;
    if (gpu.capability < 90)
        return launch_kernel(scan_long_rows<Op>, (unsigned)rows, threads, 0, stream, j, parts);
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {parts, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = j.tiles;
    config.blockDim = threads;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, scan_long_rows<Op>, j, parts);
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
    if constexpr (HEADED) {
        if (tiling.kind == TILES_APART) {
            j.rows = row_heads_of(j.row);
            return launch_kernel(scan_rows<Op>, j.tiles, tiling.segments * LANES, 0, stream, j);
        }
        if (tiling.kind == TILES_OF_ROW)
            return launch_long_rows(j, tiling.segments * APART_ROWS, stream);
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

/* ---- offsets of sequences -------------------------------------------------------------------- */

#define OFFSET_THREADS 256

/* Sets the bits of sequences that begin at these offsets. */
static __global__ void offsets_to_bits(unsigned *bits, const int64_t *offsets, size_t count,
                                       size_t n)
{
    size_t i = (size_t)blockIdx.x * OFFSET_THREADS + threadIdx.x;
    if (i < count && offsets[i] >= 0 && (size_t)offsets[i] < n)
        atomicOr(&bits[offsets[i] / 32], 1u << offsets[i] % 32);
}

static inline size_t bytes_of_bits(size_t n) { return 4 * (n / 32 + (n % 32 > 0)); }

static inline cudaError_t bits_of_offsets(unsigned *bits, const struct upsweep_scan_options *o,
                                          size_t n, cudaStream_t stream)
{
    size_t blocks = (o->count + OFFSET_THREADS - 1) / OFFSET_THREADS;
    cudaError_t error = cudaMemsetAsync(bits, 0, bytes_of_bits(n), stream);
    if (error || o->count == 0) return error;
    return launch_kernel(offsets_to_bits, (unsigned)blocks, OFFSET_THREADS, 0, stream, bits,
                         (const int64_t *)o->heads, o->count, n);
}

/* Bytes of the states, a multiple of 16. */
template <typename Op> static size_t bytes_of_states(size_t n, const struct upsweep_scan_options *o)
{
    size_t states = o->columns ? column_states(column_shape_of(n, o->columns, COLUMN_BYTES<Op>))
                               : states_needed(n, WIDEST<Op>);
    return (states * sizeof(published<typename Op::State>) + 15) / 16 * 16;
}

template <bool ALL_HEADS, typename Op>
static cudaError_t launch_for(const job<Op> &j, size_t columns, cudaStream_t stream)
{
    if constexpr (is_pair<Op>::value) {
        return launch_scan<NO_HEADS>(j, stream);
    } else {
        if (columns) return launch_columns(j, columns, stream);
        if (j.kind == NO_HEADS) return launch_scan<NO_HEADS>(j, stream);
        if (j.kind == ROWS || j.kind == BITS) return launch_scan<BITS>(j, stream);
        if constexpr (ALL_HEADS)
            return j.kind == BYTES ? launch_scan<BYTES>(j, stream) : launch_scan<KEYS>(j, stream);
        else
            return cudaErrorNotSupported;
    }
}

/* Tiles of n elements, or more than any number of tickets. */
template <typename Op> static size_t tiles_for(size_t n, const struct upsweep_scan_options *o)
{
    if (!o->columns) return tiling_of(n, o->row, WIDEST<Op>).tiles;
    struct column_shape s = column_shape_of(n, o->columns, COLUMN_BYTES<Op>);
    return s.tiles > 0 && s.strips > SIZE_MAX / s.tiles ? SIZE_MAX : s.strips * s.tiles;
}

/* Is what the options say possible for n elements? */
static inline bool options_are_valid(const struct upsweep_scan_options *o, size_t n)
{
    int shapes = (o->row > 0) + (o->columns > 0) + (o->kind != UPSWEEP_HEADS_NONE);
    if (shapes > 1 || (unsigned)o->kind > UPSWEEP_HEADS_OFFSETS) return false;
    if (o->kind == UPSWEEP_HEADS_OFFSETS && o->count > (size_t)INT32_MAX * OFFSET_THREADS)
        return false; // beyond any grid
    return !(o->row && n % o->row) && !(o->columns && n % o->columns);
}

/* Is the array of heads there, if it is needed? */
static inline bool heads_are_there(const struct upsweep_scan_options *o)
{
    if (o->kind == UPSWEEP_HEADS_NONE || o->heads) return true;
    return o->kind == UPSWEEP_HEADS_OFFSETS && o->count == 0;
}

template <typename Op, bool ALL_HEADS = false>
static cudaError_t scan(const Op &op, void *workspace, size_t *bytes,
                        typename outputs<typename Op::Out>::place out, const typename Op::In *in,
                        const typename Op::In2 *in2, size_t n,
                        const struct upsweep_scan_options *options, cudaStream_t stream)
{
    static_assert(sizeof(typename Op::State) == 4 || sizeof(typename Op::State) == 8 ||
                      sizeof(typename Op::State) == 16,
                  "Op::State must have 4, 8 or 16 bytes; add a member that fills it up");
    static const struct upsweep_scan_options none = {};
    static const enum heads kinds[] = {NO_HEADS, BYTES, BITS, KEYS, BITS};
    const struct upsweep_scan_options *o = options ? options : &none;
    bool offsets = o->kind == UPSWEEP_HEADS_OFFSETS;

    if (!options_are_valid(o, n)) return cudaErrorInvalidValue;
    if (!ALL_HEADS && (o->kind == UPSWEEP_HEADS_BYTES || o->kind == UPSWEEP_HEADS_KEYS))
        return cudaErrorNotSupported;
    if constexpr (PAIRS<Op>)
        if (o->columns == 2) {
            typedef pair_operator<Op> Pair;
            typename Pair::Out initial;
            struct upsweep_scan_options of_pairs = *o;
            of_pairs.columns = 0;
            if (o->initial) {
                initial.at[0] = initial.at[1] = *(const typename Op::Out *)o->initial;
                of_pairs.initial = &initial;
            }
            return scan(Pair{op}, workspace, bytes, (typename Pair::Out *)out,
                        (const typename Pair::In *)in, (const typename Pair::In2 *)in2, n / 2,
                        &of_pairs, stream);
        }
    if (tiles_for<Op>(n, o) > UINT32_MAX / 2) return cudaErrorInvalidValue; // tickets: 32 bits
    size_t states = bytes_of_states<Op>(n, o);
    size_t needed = sizeof(struct workspace) + states + (offsets ? bytes_of_bits(n) : 0);
    if (workspace == NULL) {
        *bytes = needed;
        return cudaSuccess;
    }
    if (n == 0) return cudaSuccess;
    if (*bytes < needed || !aligned_to_16(workspace)) return cudaErrorInvalidValue;
    if (bytes_of<typename Op::In2>::value > 0 && !in2) return cudaErrorInvalidValue;
    if (!heads_are_there(o)) return cudaErrorInvalidValue;

    job<Op> j = {};
    j.op = op;
    j.initial = o->initial ? op.begin(*(const typename Op::Out *)o->initial) : op.identity();
    j.inclusive = o->inclusive, j.reverse = o->reverse;
    j.out = out, j.in = in, j.in2 = in2, j.n = n;
    j.kind = o->row ? ROWS : kinds[o->kind];
    j.heads = o->heads, j.row = o->row;
    j.workspace = (struct workspace *)workspace;
    if (!offsets) return launch_for<ALL_HEADS>(j, o->columns, stream);

    // The bits stand behind the states, where a scan of more elements has states, too. They are
    // cleared after the scan: such a scan could take them for a sum that a tile has published.
    unsigned *bits = (unsigned *)((char *)(j.workspace + 1) + states);
    j.heads = bits;
    cudaError_t error = bits_of_offsets(bits, o, n, stream);
    if (!error) error = launch_for<ALL_HEADS>(j, o->columns, stream);
    cudaError_t cleared = cudaMemsetAsync(bits, 0, bytes_of_bits(n), stream);
    return error ? error : cleared;
}

} // namespace step16

using step16::scan;

#endif
