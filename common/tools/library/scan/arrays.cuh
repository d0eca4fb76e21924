/*
 * arrays.cuh — a segment between memory and registers, forwards and backwards.
 *
 * In a reverse scan everything is mirrored (shape.h): position p of a tile of N elements is element
 * N - 1 - p of the same tile in memory.
 */
#ifndef STEP16_ARRAYS_CUH
#define STEP16_ARRAYS_CUH

#include "more_operators.cuh"
#include "steps/16-operators/segment.cuh"
#include "states.cuh"

#include <stddef.h>

/* ---- where results go ------------------------------------------------------------------------ */

/*
 * Where results go: to an array of them; or, if they have indices, to an array of
 * values and one of indices.
 */

/* A place in both arrays. */
template <typename T> struct two_places {
    T *values;
    int64_t *indices;
    __host__ __device__ two_places operator+(size_t i) const { return {values + i, indices + i}; }
    __host__ __device__ two_places &operator+=(ptrdiff_t i) { return *this = *this + (size_t)i; }
};

/* For going on by `step` results, again and again: a place that grows by `stride_of`. To add bytes
 * is faster than to multiply. */
template <typename T> static __device__ char *growing(T *to) { return (char *)to; }
template <typename T> static __device__ two_places<T> growing(two_places<T> to) { return to; }
template <typename T> static __device__ size_t stride_of(const T *, size_t step)
{
    return step * sizeof(T);
}
template <typename T> static __device__ size_t stride_of(two_places<T>, size_t step)
{
    return step;
}

/* The type of a place for results of type Out, and the bytes of an element of the widest array. */
template <typename Out> struct outputs {
    typedef Out *place;
    enum { WIDEST = sizeof(Out) };
};
template <typename T> struct outputs<with_index<T>> {
    typedef two_places<T> place;
    enum { WIDEST = sizeof(int64_t) };
};

template <typename T> static __host__ __device__ void put_one(T *to, T x) { *to = x; }
template <typename T> static __device__ void put_one(char *to, T x) { *(T *)to = x; }
template <typename T> static __host__ __device__ void put_one(two_places<T> to, with_index<T> x)
{
    *to.values = x.value, *to.indices = x.index;
}

/* ---- segments -------------------------------------------------------------------------------- */

/* What a scan is about. The same for all kernels. */
template <typename Op> struct job {
    Op op;
    typename Op::State initial; // op.begin(…), or the identity
    bool inclusive, reverse;
    bool aligned; // all arrays, to 16 bytes
    typename outputs<typename Op::Out>::place out;
    const typename Op::In *in;
    const typename Op::In2 *in2; // NULL: none
    enum heads kind;
    const void *heads; // BYTES, BITS, KEYS
    size_t row;        // ROWS: elements of a row
    size_t n;
    unsigned tiles;
    size_t tile;           // scan_wave, scan_rows: elements of a tile
    struct row_heads rows; // scan_rows
    struct workspace *workspace;
};

/* The state of element i in memory. The third argument says whether there is a second input. */
template <typename Op>
static __host__ __device__ typename Op::State element_at(const job<Op> &j, size_t i,
                                                         const no_input *)
{
    return j.op.enter(j.in[i], no_input());
}
template <typename Op, typename T>
static __host__ __device__ typename Op::State element_at(const job<Op> &j, size_t i, const T *in2)
{
    return j.op.enter(j.in[i], in2[i]);
}

/* The state of an element with index i, for which most operators do not ask. */
template <typename Op>
static __device__ auto enter_either(const Op &op, typename Op::In x, typename Op::In2 y, size_t i,
                                    int) -> decltype(op.enter(x, y, i))
{
    return op.enter(x, y, i);
}
template <typename Op>
static __device__ auto enter_either(const Op &op, typename Op::In x, typename Op::In2 y, size_t,
                                    long) -> decltype(op.enter(x, y))
{
    return op.enter(x, y);
}
template <typename Op>
static __device__ typename Op::State state_of(const Op &op, typename Op::In x, typename Op::In2 y,
                                              size_t i)
{
    return enter_either(op, x, y, i, 0);
}

/* Bytes of the widest array of a scan. */
template <typename T> struct bytes_of {
    enum { value = sizeof(T) };
};
template <> struct bytes_of<no_input> {
    enum { value = 0 };
};
constexpr int larger(int a, int b) { return a > b ? a : b; }
template <typename Op>
constexpr int WIDEST = larger(outputs<typename Op::Out>::WIDEST,
                              larger(sizeof(typename Op::In), bytes_of<typename Op::In2>::value));

/* N neighbours that are moved by one memory access: 16 bytes at most. */
template <typename T, int N> struct __align__(sizeof(T) * N) neighbours { T e[N]; };

/* Where a lane finds its vector of row r, among the elements of the tile in memory. */
template <int R, int V> static __device__ int vector_at(bool reverse, int segment, int r)
{
    int lane = threadIdx.x % LANES;
    if (reverse) segment = SEGMENTS - 1 - segment, r = R - 1 - r, lane = LANES - 1 - lane;
    return ((segment * R + r) * LANES + lane) * V;
}

/* Where the k-th element of a vector in the order of the scan is in memory, or the other way. */
template <int V> static __device__ int in_memory(bool reverse, int k)
{
    return reverse ? V - 1 - k : k;
}

/* This element. An index that is not constant would put the vector into local memory. */
template <typename T, int V> static __device__ T mirrored(bool reverse, const T (&x)[V], int k)
{
    return reverse ? x[V - 1 - k] : x[k];
}

template <typename T, int V> static __device__ void take(T (&x)[V], const T *from)
{
    neighbours<T, V> v = *(const neighbours<T, V> *)from;
#pragma unroll
    for (int k = 0; k < V; k++) x[k] = v.e[k];
}

template <int V> static __device__ void take(no_input (&)[V], const no_input *) {}

/* The first element in memory of tile t, which has segments of R rows. */
template <int R, typename Op>
static __device__ size_t begin_of(bool reverse, const job<Op> &j, unsigned t)
{
    return (reverse ? j.tiles - 1 - t : t) * TILE_WITH(R, WIDEST<Op>);
}

/* The bits of heads of V elements in memory order, in the order of the scan. */
template <int V> static __device__ unsigned in_order(bool reverse, unsigned bits)
{
    return reverse ? __brev(bits) >> (32 - V) : bits;
}

/* Sets what is special at the edges of the array: elements at n and beyond are the identity, and
 * the first element of the scan is a head. Returns the heads. */
template <typename Op, int R, int V>
static __device__ unsigned at_edges(bool reverse, const job<Op> &j, typename Op::State (&x)[R][V],
                                    unsigned heads, size_t begin, int segment)
{
    size_t first = reverse ? j.n - 1 : 0;
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < V; k++) {
            size_t i = begin + vector_at<R, V>(reverse, segment, r) + in_memory<V>(reverse, k);
            unsigned bit = 1u << (r * V + k);
            if (i >= j.n) x[r][k] = j.op.identity(), heads &= ~bit;
            if (i == first) heads |= bit;
        }
    return heads;
}

/* One access of 16 bytes at most. nvcc may take the assignment of a struct apart. */
template <typename T, int V> static __device__ void put(T *to, const T (&x)[V])
{
    unsigned part[sizeof(T) * V / 4];
    memcpy(part, x, sizeof part);
    if (sizeof part == 16)
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                     "r"(part[0]), "r"(part[1]), "r"(part[2]), "r"(part[3])
                     : "memory");
    else
        *(neighbours<T, V> *)to = *(const neighbours<T, V> *)part;
}

template <typename T, int V>
static __device__ void put(two_places<T> to, const with_index<T> (&x)[V])
{
    T values[V];
    int64_t indices[V];
#pragma unroll
    for (int k = 0; k < V; k++) values[k] = x[k].value, indices[k] = x[k].index;
    put(to.values, values), put(to.indices, indices);
}

/* The results of the lane's vector in row r, in the order of memory. `base`: see store_segment. */
template <bool HEADED, typename Op, int R, int V>
static __device__ void results_of(bool reverse, const job<Op> &j, typename Op::Out (&z)[V],
                                  typename Op::State (&own)[R][V], typename Op::State (&x)[R][V],
                                  unsigned heads, rows_before<typename Op::State, R> &before,
                                  typename Op::State base, int r)
{
    auto joined = j.op.combine(base, before.sum[r]);
    if (HEADED && !(before.open >> r & 1)) joined = before.sum[r];
    typename Op::Out y[V];
#pragma unroll
    for (int k = 0; k < V; k++) {
        auto state = element_of<HEADED>(j.op, x, heads, joined, j.inclusive, r, k);
        // Each sequence has the initial value, `base` only that of a scan without heads.
        if (HEADED) state = j.op.combine(j.initial, state);
        y[k] = j.op.leave(state, own[r][k]);
    }
#pragma unroll
    for (int k = 0; k < V; k++) z[k] = mirrored(reverse, y, k);
}

/* Stores a segment whose tile begins at element `begin` in memory. `base` is what lies before the
 * segment; it counts for the elements before the segment's first head. An access takes a whole
 * vector if the arrays are aligned to vectors. Elements at n and beyond are left alone. */
template <bool HEADED, typename Op, int R, int V>
static __device__ void store_segment(bool reverse, const job<Op> &j, size_t begin, int segment,
                                     typename Op::State (&own)[R][V], typename Op::State (&x)[R][V],
                                     unsigned heads, rows_before<typename Op::State, R> &before,
                                     typename Op::State base)
{
    bool whole = j.aligned && begin + TILE_WITH(R, 16 / V) <= j.n;
#pragma unroll
    for (int r = 0; r < R; r++) {
        typename Op::Out z[V];
        results_of<HEADED>(reverse, j, z, own, x, heads, before, base, r);
        size_t i = begin + vector_at<R, V>(reverse, segment, r);
        if (whole) {
            put(j.out + i, z);
        } else {
#pragma unroll
            for (int k = 0; k < V; k++)
                if (i + k < j.n) put_one(j.out + (i + k), z[k]);
        }
    }
}

#endif
