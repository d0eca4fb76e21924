/*
 * segment.cuh — what one warp does with one segment: its sum, and its scan.
 *
 * A segment is ROWS rows. Each lane holds a vector of V neighbours of every row: x[r].e[k] is
 * element (r * 32 + lane) * V + k of the segment.
 */
#ifndef STEP12_SEGMENT_CUH
#define STEP12_SEGMENT_CUH

#include "states.cuh"

/* ---- between device memory and registers ----------------------------------------------------- */

/* Fetches the segment that begins at index `begin`. Elements at n and beyond count as 0. A vector
 * is one access if `in` is `aligned` to vectors and the whole segment is there, otherwise one for
 * each element. The condition is checked once for all rows: checked for each row, it would make
 * each row wait for the one before. */
template <typename In, int V, int ROWS>
static __device__ void fetch_segment(vector<In, V> (&x)[ROWS], const In *in, size_t begin, size_t n,
                                     bool aligned)
{
    size_t i = begin + threadIdx.x % LANES * V;

    if (aligned && begin + ROWS * LANES * V <= n) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) x[r] = *(const vector<In, V> *)(in + i + r * LANES * V);
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++, i += LANES * V)
#pragma unroll
            for (int k = 0; k < V; k++) x[r].e[k] = i + k < n ? in[i + k] : (In)0;
    }
}

/* One access of 16 bytes. nvcc may take the assignment of a struct apart: of the first of a
 * segment's eight stores it made four small ones, which touch the same sectors four times. */
static __device__ void store_vector(void *to, uint4 v)
{
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                 "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}

/* Stores a segment in the same way, with `base` added to each sum. Elements at n and beyond are
 * left alone. */
template <typename Sum, int V, int ROWS>
static __device__ void store_segment(Sum *out, size_t begin, size_t n, Sum base,
                                     const vector<Sum, V> (&y)[ROWS], bool aligned)
{
    size_t i = begin + threadIdx.x % LANES * V;

    if (aligned && begin + ROWS * LANES * V <= n) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            vector<Sum, V> z;
#pragma unroll
            for (int k = 0; k < V; k++) z.e[k] = base + y[r].e[k];
            store_vector(out + i + r * LANES * V, *(const uint4 *)&z);
        }
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++, i += LANES * V)
#pragma unroll
            for (int k = 0; k < V; k++)
                if (i + k < n) out[i + k] = base + y[r].e[k];
    }
}

/* ---- its sum and its scan -------------------------------------------------------------------- */

#define ALL_LANES 0xffffffffu

/* The sum over the lanes of a warp, in every lane: a balanced tree. */
template <typename T> static __device__ T warp_sum(T x)
{
#pragma unroll
    for (int d = 1; d < LANES; d *= 2) x += __shfl_xor_sync(ALL_LANES, x, d);
    return x;
}

/* The sum over this lane and those before it, among the first N lanes: step 9's warp scan. */
template <int N = LANES, typename T> static __device__ T warp_scan(T x)
{
#pragma unroll
    for (int d = 1; d < N; d *= 2) {
        T left = __shfl_up_sync(ALL_LANES, x, d);
        if (threadIdx.x % LANES >= d) x += left;
    }
    return x;
}

/* The sum of N numbers that one thread has, N a power of two: the same tree. */
template <int N, typename T> static __device__ T tree_sum(const T (&x)[N])
{
    T sum[N];
#pragma unroll
    for (int i = 0; i < N; i++) sum[i] = x[i];
#pragma unroll
    for (int d = 1; d < N; d *= 2)
#pragma unroll
        for (int i = 0; i < N; i += 2 * d) sum[i] += sum[i + d];
    return sum[0];
}

/* Adds a lane's elements of these rows to `sum`, row by row. */
template <typename In, typename Sum, int V, int ROWS>
static __device__ void add_rows(const vector<In, V> (&x)[ROWS], Sum &sum)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        Sum row = x[r].e[0];
#pragma unroll
        for (int k = 1; k < V; k++) row += x[r].e[k];
        sum += row;
    }
}

/* The sum of a segment, in every lane: each lane adds up its own elements, then the lanes are
 * added. */
template <typename Sum, typename In, int V, int ROWS>
static __device__ Sum segment_sum(const vector<In, V> (&x)[ROWS])
{
    Sum sum = 0;
    add_rows(x, sum);
    return warp_sum(sum);
}

/* Scans some rows of a segment: y[r].e[k] becomes the sum of all of its elements before x[r].e[k],
 * and of that one too if INCLUSIVE. `rows` is the sum of the segment's rows before these, and
 * becomes that of the rows up to the last of these, unless that is the LAST row of the segment. */
template <bool INCLUSIVE, bool LAST, typename In, typename Sum, int V, int ROWS>
static __device__ void scan_rows(const vector<In, V> (&x)[ROWS], vector<Sum, V> (&y)[ROWS],
                                 Sum &rows)
{
    Sum total[ROWS], before[ROWS];

    // Scan each vector, inclusively: its last element becomes the lane's total.
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        y[r].e[0] = x[r].e[0];
#pragma unroll
        for (int k = 1; k < V; k++) y[r].e[k] = y[r].e[k - 1] + (Sum)x[r].e[k];
        total[r] = y[r].e[V - 1];
    }

    // Scan the totals over the lanes. The rows overlap: the shuffle of the next row begins while
    // the result of the last one is still on its way.
#pragma unroll
    for (int r = 0; r < ROWS; r++) total[r] = warp_scan(total[r]);

    // Add the rows before. The total of a row is in its last lane.
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        Sum left = __shfl_up_sync(ALL_LANES, total[r], 1);
        before[r] = threadIdx.x % LANES == 0 ? rows : rows + left;
        if (!LAST || r < ROWS - 1) rows += __shfl_sync(ALL_LANES, total[r], LANES - 1);
    }

    // Add to each element the sum of all before it. Begin with the last element, because each takes
    // the value of its left neighbour.
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (int k = V - 1; k >= 0; k--)
            y[r].e[k] = INCLUSIVE ? before[r] + y[r].e[k]
                        : k > 0   ? before[r] + y[r].e[k - 1]
                                  : before[r];
    }
}

/* Scans a whole segment. */
template <bool INCLUSIVE, typename In, typename Sum, int V, int ROWS>
static __device__ void segment_scan(const vector<In, V> (&x)[ROWS], vector<Sum, V> (&y)[ROWS])
{
    Sum rows = 0;
    scan_rows<INCLUSIVE, true>(x, y, rows);
}

#endif
