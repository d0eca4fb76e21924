/*
 * part.cuh — what a block does with a tile of its rank's part, and with sums.
 *
 * A warp scans and sums up its segment by step 16's functions (segment.cuh), in the order of the
 * elements. No element is a head, at which a scan of step 16 starts again. `enter` makes a state of
 * an element, `leave` a result of a state, as in step 16.
 */
#ifndef STEP17_PART_CUH
#define STEP17_PART_CUH

#include "common/step/launch_kernel.cuh"
#include "parts/part.h"
#include "steps/16-operators/operators.cuh"
#include "steps/16-operators/segment.cuh"

#define TILE_THREADS (MANY_SEGMENTS * LANES)
#define SUM_WARPS    (MANY_SUM_THREADS / LANES)
/* Neighbours in a lane's vector of a row, and the rows of a segment. */
#define VECTOR(Op)  LANE_TAKES((int)sizeof(typename Op::In))
#define ROWS_OF(Op) (MANY_SEGMENT / LANES / VECTOR(Op))
static_assert(MANY_NODES <= MANY_SUM_THREADS, "a block has a thread for each node");

/* The arrays of a rank's part, in which tile 0 begins at element 0. */
template <typename Op> struct arrays {
    const typename Op::In *in;
    const typename Op::In2 *in2; // NULL: none
    size_t count;
};

/* Vectors that are read again later, or for the last time. */
enum again { READ_AGAIN, READ_LAST };
template <enum again AGAIN, typename T, int V>
static __device__ void load_vector(T (&x)[V], const T *from)
{
    uint4 v = AGAIN == READ_LAST ? __ldcs((const uint4 *)from) : *(const uint4 *)from;
    memcpy(x, &v, sizeof v);
}
template <enum again AGAIN, int V>
static __device__ void load_vector(no_input (&)[V], const no_input *)
{
}

template <typename T> static __device__ T element(const T *in, size_t i) { return in[i]; }
static __device__ no_input element(const no_input *, size_t) { return {}; }

/* The element at which this lane's vector of the segment's first row begins. */
template <typename Op> static __device__ size_t first_of(size_t tile)
{
    size_t segment = tile * MANY_SEGMENTS + threadIdx.x / LANES;
    return segment * MANY_SEGMENT + threadIdx.x % LANES * VECTOR(Op);
}

template <typename Op> static __device__ bool is_whole(const arrays<Op> &a, size_t tile)
{
    return (tile + 1) * MANY_TILE <= a.count;
}

/* Loads this warp's segment of a tile. Elements beyond the part are the identity. In a whole tile
 * all loads are issued before the first state is made. */
template <enum again AGAIN, bool WHOLE, typename Op, int R, int V>
static __device__ void load_segment(const Op &op, typename Op::State (&x)[R][V],
                                    const arrays<Op> &a, size_t tile)
{
    size_t i = first_of<Op>(tile);
    if (WHOLE) {
        typename Op::In in[R][V];
        typename Op::In2 in2[R][V];
#pragma unroll
        for (int r = 0; r < R; r++) {
            load_vector<AGAIN>(in[r], a.in + i + r * LANES * V);
            load_vector<AGAIN>(in2[r], a.in2 + i + r * LANES * V);
        }
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < V; k++) x[r][k] = op.enter(in[r][k], in2[r][k]);
    } else {
#pragma unroll
        for (int r = 0; r < R; r++, i += LANES * V)
#pragma unroll
            for (int k = 0; k < V; k++)
                x[r][k] = i + k < a.count ? op.enter(element(a.in, i + k), element(a.in2, i + k))
                                          : op.identity();
    }
}

/* Stores results, with __stcs, so that they do not displace the input in L2. */
template <bool WHOLE, typename Op, int R, int V>
static __device__ void store_segment(typename Op::Out *out, const arrays<Op> &a, size_t tile,
                                     const typename Op::Out (&y)[R][V])
{
    size_t i = first_of<Op>(tile);
    if (WHOLE) {
#pragma unroll
        for (int r = 0; r < R; r++) {
            uint4 v;
            memcpy(&v, y[r], sizeof v);
            __stcs((uint4 *)(out + i + r * LANES * V), v);
        }
    } else {
#pragma unroll
        for (int r = 0; r < R; r++, i += LANES * V)
#pragma unroll
            for (int k = 0; k < V; k++)
                if (i + k < a.count) out[i + k] = y[r][k];
    }
}

/* The prefix of this warp's segment. Lanes 0 and 1 have that of the tile, in two parts, as
 * `before`. Every warp has stored its segment's sum into `sums` before a barrier. */
template <typename Op>
static __device__ typename Op::State segment_base(const Op &op, typename Op::State before,
                                                  const typename Op::State (&sums)[MANY_SEGMENTS])
{
    int lane = threadIdx.x % LANES, segment = threadIdx.x / LANES;
    auto x = lane < 2 ? before : lane < 2 + MANY_SEGMENTS ? sums[lane - 2] : op.identity();
    return from_lane(warp_scan(op, x, lane), segment + 1);
}

/* Scans a state of each thread over the block, exclusively. `total` becomes the combination of all.
 * A block may have any number of whole warps: what a thread gets has the same bits as in a block of
 * 1024 threads. All threads call it. Between two calls there must be a barrier. */
template <typename Op>
static __device__ typename Op::State block_scan(const Op &op, typename Op::State x,
                                                typename Op::State (&sums)[SUM_WARPS],
                                                typename Op::State *total)
{
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    x = warp_scan(op, x, lane);
    if (lane == LANES - 1) sums[warp] = x;
    __syncthreads(); // no warp may read the warps' sums before all are there
    auto all = warp_scan(op, lane < warps ? sums[lane] : op.identity(), lane);
    auto before = from_lane(all, warp > 0 ? warp - 1 : 0), left = from_left(x, 1);
    *total = from_lane(all, warps - 1);
    if (warp == 0) return lane == 0 ? op.identity() : left;
    return lane == 0 ? before : op.combine(before, left);
}

/* Calls launch(op) with the operator. */
template <typename F> static cudaError_t launch_for(enum many_op op, F launch)
{
    switch (op) {
    case MANY_SUM_F32: return launch(sum_operator<float>());
    case MANY_SUM_F64: return launch(sum_operator<double>());
    case MANY_SUM_I32: return launch(sum_operator<int32_t>());
    case MANY_SUM_I64: return launch(sum_operator<int64_t>());
    case MANY_AFFINE_F32: return launch(affine_operator<float>());
    default: return cudaErrorInvalidValue;
    }
}

#endif
