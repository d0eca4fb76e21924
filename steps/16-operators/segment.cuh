/*
 * segment.cuh — what one warp does with one segment: its sum, and its scan, in the order of the
 * elements.
 *
 * A segment is R rows. Each lane holds a vector of V neighbours of every row, as states: x[r][k] is
 * element (r * 32 + lane) * V + k of the segment. Bit r * V + k of `heads` says that it is a head.
 */
#ifndef STEP16_SEGMENT_CUH
#define STEP16_SEGMENT_CUH

#include "common/tools/library/scan/states.cuh"

#define ALL_LANES 0xffffffffu

/* __shfl_*_sync of a state, word by word. */
#define SHUFFLE(name, ...)                                                                         \
    {                                                                                              \
        unsigned part[WORDS(State)];                                                               \
        memcpy(part, &x, sizeof(State));                                                           \
        _Pragma("unroll") for (int i = 0; i < WORDS(State); i++) part[i] =                         \
            name(ALL_LANES, part[i], __VA_ARGS__);                                                 \
        memcpy(&x, part, sizeof(State));                                                           \
        return x;                                                                                  \
    }
template <typename State>
static __device__ State from_lane(State x, int lane)
    SHUFFLE(__shfl_sync, lane) template <typename State>
    static __device__ State
    from_left(State x, int distance) SHUFFLE(__shfl_up_sync, distance) template <typename State>
    static __device__ State from_partner(State x, int distance) SHUFFLE(__shfl_xor_sync, distance)

    /* The largest of the lanes' numbers, in every lane. */
    static __device__ int warp_max(int x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL_LANES, x);
#else
#pragma unroll
    for (int d = 1; d < LANES; d *= 2) x = max(x, __shfl_xor_sync(ALL_LANES, x, d));
    return x;
#endif
}

static __device__ unsigned bits_below(int bit) { return (1u << bit) - 1; }

/* The highest of the 32 bits that is set, -1 if none is. */
static __device__ int highest_bit(unsigned bits) { return 31 - __clz(bits); }

/* Combines what this lane has with what its partner has; the lower lane's part comes first. By
 * value: of two variables nvcc may choose an address, and then both lie in local memory. */
template <typename Op>
static __device__ typename Op::State combine_pair(const Op &op, bool upper, typename Op::State mine,
                                                  typename Op::State other)
{
    typename Op::State left = upper ? other : mine, right = upper ? mine : other;
    return op.combine(left, right);
}

/* The sum over all lanes in order, in every lane: a balanced tree. */
template <typename Op>
static __device__ typename Op::State warp_sum(const Op &op, typename Op::State x)
{
#pragma unroll
    for (int d = 1; d < LANES; d *= 2) x = combine_pair(op, threadIdx.x & d, x, from_partner(x, d));
    return x;
}

/* The sum over this lane and the `reach` lanes before it. The reach ends at a lane with a head. */
template <typename Op>
static __device__ typename Op::State warp_scan(const Op &op, typename Op::State x, int reach)
{
#pragma unroll
    for (int d = 1; d < LANES; d *= 2) {
        auto left = from_left(x, d);
        if (d <= reach) x = op.combine(left, x);
    }
    return x;
}

/* How many lanes before this one belong to its sequence: bits of `lanes` are lanes with a head. */
static __device__ int reach_of(unsigned lanes)
{
    int lane = threadIdx.x % LANES;
    int head = highest_bit(lanes & (bits_below(lane) | 1u << lane));
    return head < 0 ? lane : lane - head;
}

/* The sum of the sequence with which the lanes end, in every lane. Lanes before its head do not
 * count. */
template <typename Op>
static __device__ headed<typename Op::State> warp_sum_headed(const Op &op,
                                                             headed<typename Op::State> x)
{
    unsigned lanes = __ballot_sync(ALL_LANES, x.head);
    if ((int)(threadIdx.x % LANES) < highest_bit(lanes)) x.value = op.identity();
    return {warp_sum(op, x.value), lanes != 0};
}

/* Elements that a later head of the segment makes irrelevant for the segment's sum become the
 * identity. Returns whether there is a head. */
template <typename Op, int R, int V>
static __device__ bool drop_before_last_head(const Op &op, typename Op::State (&x)[R][V],
                                             unsigned heads)
{
    int lane = threadIdx.x % LANES, bit = highest_bit(heads);
    int last = warp_max(bit < 0 ? -1 : (bit / V * LANES + lane) * V + bit % V);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < V; k++)
            if ((r * LANES + lane) * V + k < last) x[r][k] = op.identity();
    return last >= 0;
}

/*
 * The sum of a segment, in every lane. Each lane combines its vectors. The rows have to stay apart,
 * because a row comes after all lanes of the row before. So in each of the first steps a pair of
 * lanes exchanges halves of its rows: each lane keeps half of the rows, of twice as many lanes.
 * When a lane has one row left, it combines the rest of the lanes, and at last the rows.
 */
template <typename Op, int R, int V>
static __device__ typename Op::State segment_sum(const Op &op, typename Op::State (&x)[R][V])
{
    typename Op::State row[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
        row[r] = x[r][0];
#pragma unroll
        for (int k = 1; k < V; k++) row[r] = op.combine(row[r], x[r][k]);
    }
#pragma unroll
    for (int d = 1; d < R; d *= 2) {
        bool upper = threadIdx.x & d; // keeps the upper half of its rows
#pragma unroll
        for (int r = 0; r < R / (2 * d); r++) {
            typename Op::State first = row[r], second = row[r + R / (2 * d)];
            typename Op::State mine = upper ? second : first, give = upper ? first : second;
            row[r] = combine_pair(op, upper, mine, from_partner(give, d));
        }
    }
    auto sum = row[0];
#pragma unroll
    for (int d = R; d < LANES; d *= 2)
        sum = combine_pair(op, threadIdx.x & d, sum, from_partner(sum, d));
        // Neighbouring rows lie in lanes R / 2 apart, pairs of rows R / 4 apart, …
#pragma unroll
    for (int d = R / 2; d > 0; d /= 2)
        sum = combine_pair(op, threadIdx.x & d, sum, from_partner(sum, d));
    return sum;
}

/* What segment_scan leaves to be combined with each element. */
template <typename State, int R> struct rows_before {
    State sum[R];  // of the elements of the same sequence and segment, before the lane's vector
    unsigned open; // bit r: there is no head in the segment before the vector in row r
};

/* Scans the vectors of a segment in place, and finds what lies before each of them. */
template <bool HEADED, typename Op, int R, int V>
static __device__ void segment_scan(const Op &op, typename Op::State (&x)[R][V], unsigned heads,
                                    rows_before<typename Op::State, R> &before)
{
    typename Op::State total[R];
    unsigned lanes[R]; // with a head in their vector of the row
    int lane = threadIdx.x % LANES;

    // Scan each vector. A head begins anew.
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
        for (int k = 1; k < V; k++)
            if (!HEADED || !(heads >> (r * V + k) & 1)) x[r][k] = op.combine(x[r][k - 1], x[r][k]);
        total[r] = x[r][V - 1];
    }

    // Scan the totals over the lanes of each row.
#pragma unroll
    for (int r = 0; r < R; r++) {
        lanes[r] = HEADED ? __ballot_sync(ALL_LANES, heads >> (r * V) & bits_below(V)) : 0;
        total[r] = warp_scan(op, total[r], HEADED ? reach_of(lanes[r]) : lane);
    }

    // Combine with the rows before. The total of a row is in its last lane.
    auto rows = op.identity();
    bool open = true;
    before.open = 0;
#pragma unroll
    for (int r = 0; r < R; r++) {
        auto left = from_left(total[r], 1), last = from_lane(total[r], LANES - 1);
        bool cut = HEADED && (lanes[r] & bits_below(lane)) != 0;
        auto joined = r == 0 || cut ? left : op.combine(rows, left);
        before.sum[r] = lane == 0 ? rows : joined;
        before.open |= (open && !cut) << r;
        rows = r == 0 || (HEADED && lanes[r]) ? last : op.combine(rows, last);
        open = open && !lanes[r];
    }
}

/* The scan of element k of the vector in row r, when what lies before the segment has been combined
 * with before.sum. */
template <bool HEADED, typename Op, int R, int V>
static __device__ typename Op::State element_of(const Op &op, typename Op::State (&x)[R][V],
                                                unsigned heads, typename Op::State before,
                                                bool inclusive, int r, int k)
{
    // An exclusive scan takes the element before, of the same vector or from `before`.
    unsigned vector = HEADED ? heads >> (r * V) & bits_below(V) : 0;
    unsigned taken = inclusive ? bits_below(k) | 1u << k : bits_below(k);
    auto own = inclusive || k == 0 ? x[r][k] : x[r][k - 1];
    auto joined = op.combine(before, own);
    if (HEADED && vector & taken) joined = own;
    if (!inclusive && k == 0) joined = before;
    return HEADED && !inclusive && vector >> k & 1 ? op.identity() : joined;
}

#endif
