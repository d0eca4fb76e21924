/*
 * Step 17: more elements than one GPU holds.
 *
 * What it is: a scan by many GPUs, each of which has a part of the elements. Each GPU reduces its
 * part, the GPUs exchange the sums of all nodes, and each scans its part.
 * Same as step 16 except: two passes in place of one, because what lies before a part is only known
 * when all GPUs before it have read theirs. The first pass leaves the sum of each tile, so that the
 * second pass need not look back: when it starts, the sum of everything before a tile is in memory.
 * What it fixes: the limit of one GPU's memory, and of its bandwidth. Results are the same in every
 * bit for any number of GPUs.
 * What is still bad: 3 words per element are moved, not 2. So P GPUs are at most 2/3 P times as
 * fast as one that reads and writes each element once.
 * How to run it: make run17 P=4; or as a library: scan.h.
 *
 * This file has the kernels between which nothing is exchanged; the one that exchanges is in
 * common/tools/library/ranks/peer.cu.
 */
#include "parts/part.h"
#include "common/step/cuda_check.h"
#include "part.cuh"

/* The least number of blocks on a multiprocessor: their loads are in flight together. It limits the
 * registers of a thread. A multiprocessor has 65 536: for 8 blocks of 256 threads these are 32
 * each, for 6 blocks 40, for 4 blocks 64, for 3 blocks 80. A lane has 16 states; those of 8 bytes
 * take twice the registers. The scan also keeps what stands before each row, so it gets fewer
 * blocks. */
#define REDUCE_BLOCKS(bytes) ((bytes) == 8 ? 4 : 8)
#define SCAN_BLOCKS(bytes)   ((bytes) == 8 ? 3 : 6)

/* The sums of all tiles, one block per tile. */
template <typename Op>
static __global__ void __launch_bounds__(TILE_THREADS, REDUCE_BLOCKS(sizeof(typename Op::State)))
    reduce_tiles(Op op, typename Op::State *tile_sums, arrays<Op> a)
{
    __shared__ typename Op::State sums[MANY_SEGMENTS];
    typename Op::State x[ROWS_OF(Op)][VECTOR(Op)];
    int lane = threadIdx.x % LANES;

    if (is_whole(a, blockIdx.x))
        load_segment<READ_AGAIN, true>(op, x, a, blockIdx.x);
    else
        load_segment<READ_AGAIN, false>(op, x, a, blockIdx.x);
    auto sum = segment_sum(op, x);
    if (lane == 0) sums[threadIdx.x / LANES] = sum;
    __syncthreads(); // no thread may read the segments' sums before all are there
    if (threadIdx.x >= LANES) return;
    sum = warp_sum(op, lane < MANY_SEGMENTS ? sums[lane] : op.identity());
    if (lane == 0) tile_sums[blockIdx.x] = sum;
}

/* Scans the sums of a node's tiles, exclusively and in place, and stores the node's sum. There is
 * one block per node. */
template <typename Op>
static __global__ void __launch_bounds__(MANY_SUM_THREADS)
    scan_tile_sums(Op op, typename Op::State *tile_sums, typename Op::State *node_sums,
                   size_t tiles, size_t node_tiles)
{
    __shared__ typename Op::State sums[SUM_WARPS];
    size_t begin = blockIdx.x * node_tiles, end = min(begin + node_tiles, tiles);
    auto carry = op.identity(), total = carry;

    // With more tiles than threads, `carry` is the sum of all tiles of the iterations before.
    for (size_t i = begin + threadIdx.x; i - threadIdx.x < end; i += blockDim.x) {
        auto before = block_scan(op, i < end ? tile_sums[i] : op.identity(), sums, &total);
        if (i < end) tile_sums[i] = op.combine(carry, before);
        carry = op.combine(carry, total);
        // No warp may write its sum of the next iteration before all warps have read the sums of
        // this one.
        __syncthreads();
    }
    if (threadIdx.x == 0) node_sums[blockIdx.x] = carry;
}

/* Which nodes there are, and which are of this rank. */
struct nodes {
    unsigned all, first, own;
    unsigned ranks, slots; // many_slots
};

static inline struct nodes nodes_of(struct many_shape shape, int ranks, int rank)
{
    struct many_part own = many_nodes_of(shape, ranks, rank);
    return {shape.nodes, (unsigned)own.begin, (unsigned)own.count, (unsigned)ranks,
            many_slots(shape.nodes, ranks)};
}

/* Where the sum of a node lies, if those of each rank lie side by side. Rank r has the nodes from
 * all * r / ranks on, rounded down. So a node's rank is the largest r for which all * r is less
 * than (node + 1) * ranks. The products fit into 32 bits, and no difference is negative. */
static __device__ unsigned slot_of(struct nodes n, unsigned node)
{
    unsigned rank = ((node + 1) * n.ranks - 1) / n.all;
    return rank * n.slots + node - n.all * rank / n.ranks;
}

/* What stands before each of this rank's nodes, by one block. */
template <typename Op>
static __global__ void __launch_bounds__(MANY_SUM_THREADS)
    scan_nodes(Op op, struct nodes n, const typename Op::State *all,
               typename Op::State *node_prefix)
{
    __shared__ typename Op::State sums[SUM_WARPS];
    typename Op::State total;
    unsigned node = threadIdx.x;
    auto x = node < n.all ? all[slot_of(n, node)] : op.identity();
    auto before = block_scan(op, x, sums, &total);
    if (node >= n.first && node < n.first + n.own) node_prefix[node - n.first] = before;
}

/* The results of a tile. Lanes 0 and 1 have what stands before it as `prefix`. The whole function
 * is compiled twice. If only loads and stores were, a whole tile would also issue the conditional
 * ones. */
template <bool WHOLE, bool INCLUSIVE, typename Op>
static __device__ void scan_tile(const Op &op, typename Op::Out *out, const arrays<Op> &a,
                                 size_t tile, typename Op::State prefix)
{
    const int R = ROWS_OF(Op), V = VECTOR(Op);
    __shared__ typename Op::State sums[MANY_SEGMENTS];
    typename Op::State x[R][V];
    typename Op::Out y[R][V];
    rows_before<typename Op::State, R> before;

    load_segment<READ_LAST, WHOLE>(op, x, a, tile);
    segment_scan<false>(op, x, 0, before);

    // The segment's sum is the scan of its last element.
    auto sum = op.combine(before.sum[R - 1], x[R - 1][V - 1]);
    if (threadIdx.x % LANES == LANES - 1) sums[threadIdx.x / LANES] = sum;
    __syncthreads(); // no thread may read the segments' sums before all are there
    auto base = segment_base(op, prefix, sums);
#pragma unroll
    for (int r = 0; r < R; r++) {
        auto joined = op.combine(base, before.sum[r]);
#pragma unroll
        for (int k = 0; k < V; k++) {
            auto state = element_of<false>(op, x, 0, joined, INCLUSIVE, r, k);
            y[r][k] = op.leave(state, state);
        }
    }
    store_segment<WHOLE>(out, a, tile, y);
}

/* The results of all tiles, one block per tile. The last tile is first: L2 still has what the
 * reduction has read last. */
template <bool INCLUSIVE, typename Op>
static __global__ void __launch_bounds__(TILE_THREADS, SCAN_BLOCKS(sizeof(typename Op::State)))
    scan_tiles(Op op, typename Op::Out *out, arrays<Op> a, const typename Op::State *tile_prefix,
               const typename Op::State *node_prefix, int node_shift)
{
    size_t tile = gridDim.x - 1 - blockIdx.x;
    // What stands before the tile's node, and before the tile in the node. It is combined after the
    // tile has been loaded, so no load of the tile waits for it.
    int lane = threadIdx.x % LANES;
    auto from = lane == 0 ? &node_prefix[tile >> node_shift] : &tile_prefix[tile];
    auto prefix = lane < 2 ? *from : op.identity();
    if (is_whole(a, tile))
        scan_tile<true, INCLUSIVE>(op, out, a, tile, prefix);
    else
        scan_tile<false, INCLUSIVE>(op, out, a, tile, prefix);
}

/* ---- launches -------------------------------------------------------------------------------- */

static size_t tiles_in(const struct part *p)
{
    return many_tiles_of(p->shape, p->ranks, p->rank).count;
}

template <typename Op>
static arrays<Op> arrays_of(const struct part *p, const void *in, const void *in2)
{
    return {(const typename Op::In *)in, (const typename Op::In2 *)in2,
            many_part_of(p->shape.n, p->ranks, p->rank).count};
}

/* A part without elements launches nothing. */
template <typename F> static cudaError_t launch_part(const struct part *p, F launch)
{
    if (tiles_in(p) == 0) return cudaSuccess;
    if (tiles_in(p) > INT32_MAX) return cudaErrorInvalidValue; /* the largest grid */
    return launch_for(p->op, launch);
}

#define STATE(op) typename decltype(op)::State

cudaError_t part_reduce(const struct part *p, const void *in, const void *in2, cudaStream_t stream)
{
    return launch_part(p, [&](auto op) {
        return launch_kernel(reduce_tiles<decltype(op)>, (unsigned)tiles_in(p), TILE_THREADS, 0,
                             stream, op, (STATE(op) *)p->tile_sums,
                             arrays_of<decltype(op)>(p, in, in2));
    });
}

cudaError_t part_scan_tile_sums(const struct part *p, cudaStream_t stream)
{
    size_t width = p->shape.node_tiles;
    unsigned nodes = (unsigned)many_nodes_of(p->shape, p->ranks, p->rank).count;
    unsigned threads = width < LANES ? LANES : width > MANY_SUM_THREADS ? MANY_SUM_THREADS : width;
    return launch_part(p, [&](auto op) {
        return launch_kernel(scan_tile_sums<decltype(op)>, nodes, threads, 0, stream, op,
                             (STATE(op) *)p->tile_sums, (STATE(op) *)p->node_sums, tiles_in(p),
                             width);
    });
}

cudaError_t part_scan_nodes(const struct part *p, const void *all_nodes, cudaStream_t stream)
{
    return launch_part(p, [&](auto op) {
        return launch_kernel(scan_nodes<decltype(op)>, 1, MANY_SUM_THREADS, 0, stream, op,
                             nodes_of(p->shape, p->ranks, p->rank), (const STATE(op) *)all_nodes,
                             (STATE(op) *)p->node_prefix);
    });
}

cudaError_t part_scan(const struct part *p, void *out, const void *in, const void *in2,
                      bool inclusive, cudaStream_t stream)
{
    int node_shift = 0;
    while ((size_t)1 << node_shift < p->shape.node_tiles) node_shift++;
    return launch_part(p, [&](auto op) {
        typedef decltype(op) Op;
        return launch_kernel(inclusive ? scan_tiles<true, Op> : scan_tiles<false, Op>,
                             (unsigned)tiles_in(p), TILE_THREADS, 0, stream, op,
                             (typename Op::Out *)out, arrays_of<Op>(p, in, in2),
                             (const STATE(op) *)p->tile_sums, (const STATE(op) *)p->node_prefix,
                             node_shift);
    });
}
