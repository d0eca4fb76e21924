/*
 * rank.cuh — where a key goes within its tile: the warp-level multisplit.
 *
 * A warp counts its keys by digit in a row of counters of its own, in shared memory. The counters
 * then become places: of the digit, behind all smaller digits of the block, and behind the same
 * digit of the warps before. A key's place is its counter, plus the number of keys with its digit
 * that come before it in the warp.
 *
 * Lanes take keys row by row: key number k of lane l is number 32 k + l of its warp. That is the
 * order of memory, so the sort is stable.
 */
#ifndef STEP15_RANK_CUH
#define STEP15_RANK_CUH

#include "keys.cuh"

#define ALL_LANES 0xffffffffu

/* lanes &= those whose bit of `digit` under the mask `bit` is the same as this lane's. */
#define KEEP_LANES_WITH(bit)                                                                       \
    "and.b32 vote, %1, " #bit ";\n"                                                                \
    "setp.ne.u32 p, vote, 0;\n"                                                                    \
    "vote.sync.ballot.b32 vote, p, 0xffffffff;\n"                                                  \
    "@!p not.b32 vote, vote;\n"                                                                    \
    "and.b32 %0, %0, vote;\n"

/* The lanes that have the same digit as this lane. match.any takes the longer, the more different
 * digits there are, and in a warp of random keys there are about 30; eight votes always take the
 * same time. All lanes take part. In C, nvcc takes seven more instructions for each vote. */
static __device__ unsigned lanes_with_digit(unsigned digit)
{
#if ONESWEEP_MATCH
    return __match_any_sync(ALL_LANES, digit);
#else
    unsigned lanes = ALL_LANES;
    asm volatile("{ .reg .pred p; .reg .b32 vote;\n" KEEP_LANES_WITH(1) KEEP_LANES_WITH(2)
                     KEEP_LANES_WITH(4) KEEP_LANES_WITH(8) KEEP_LANES_WITH(16) KEEP_LANES_WITH(32)
                         KEEP_LANES_WITH(64) KEEP_LANES_WITH(128) "}"
                 : "+r"(lanes)
                 : "r"(digit));
    return lanes;
#endif
}

static __device__ unsigned lanes_before()
{
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

/* The place of a key with this digit. row[digit] is the place of the warp's next key with the
 * digit. Only the first of the lanes with a digit changes its counter. The votes of the next call
 * come after the shuffle of this call, so the additions of two calls are in the order of the
 * calls. */
static __device__ unsigned take_place(unsigned *row, unsigned digit)
{
    unsigned peers = lanes_with_digit(digit), before = __popc(peers & lanes_before());
    unsigned place = 0;
    if (before == 0) place = atomicAdd(&row[digit], __popc(peers));
    return __shfl_sync(ALL_LANES, place, __ffs(peers) - 1) + before;
}

/* A warp clears its row, which is aligned to 16 bytes. */
static __device__ void clear_row(unsigned *row)
{
    uint4 *part = (uint4 *)row;
    for (int i = threadIdx.x % LANES; i < DIGITS / 4; i += LANES) part[i] = make_uint4(0, 0, 0, 0);
    __syncwarp(); // no lane may count before the row is clear
}

/* The number of keys with digit threadIdx.x in all warps. For the first DIGITS threads. */
template <int WARPS> static __device__ unsigned count_in_block(const unsigned (*counters)[DIGITS])
{
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) sum += counters[w][threadIdx.x];
    return sum;
}

/* Turns counters into places; the block's first key with digit threadIdx.x comes to `place`. For
 * the first DIGITS threads. */
template <int WARPS>
static __device__ void counters_to_places(unsigned (*counters)[DIGITS], unsigned place)
{
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        unsigned count = counters[w][threadIdx.x];
        counters[w][threadIdx.x] = place;
        place += count;
    }
}

/* The sum of x over the threads before this one, among the first DIGITS threads; others get nothing
 * of use. All threads of the block call it. `sums` has room for DIGITS / LANES. */
template <typename Sum> static __device__ Sum sum_before(Sum x, Sum *sums)
{
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    Sum sum = x;
#pragma unroll
    for (int d = 1; d < LANES; d *= 2) {
        Sum left = __shfl_up_sync(ALL_LANES, sum, d);
        if (lane >= d) sum += left;
    }
    if (lane == LANES - 1 && warp < DIGITS / LANES) sums[warp] = sum;
    __syncthreads(); // no thread may read the warps' sums before all are there
    sum -= x;
#if __CUDA_ARCH__ >= 800
    bool adds = lane < warp && warp < DIGITS / LANES;
    return sum + __reduce_add_sync(ALL_LANES, adds ? sums[lane] : 0);
#else
#pragma unroll
    for (int w = 0; w < DIGITS / LANES - 1; w++)
        if (w < warp) sum += sums[w];
    return sum;
#endif
}

#endif
