/*
 * memory.cuh — a segment between device memory and registers.
 */
#ifndef STEP12_MEMORY_CUH
#define STEP12_MEMORY_CUH

#include "types.cuh"

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

#endif
