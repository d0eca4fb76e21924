/*
 * memory.cuh — a segment between device memory and registers.
 */
#ifndef STEP12_MEMORY_CUH
#define STEP12_MEMORY_CUH

#include "types.cuh"

/* Fetches the segment that begins at index `begin`; what lies at n and beyond counts as 0. A vector
 * is one access if `in` is ALIGNED to vectors, otherwise one an element. */
template <bool ALIGNED, typename In, int V, int ROWS>
static __device__ void fetch_segment(vector<In, V> (&x)[ROWS], const In *in, size_t begin, size_t n)
{
    size_t i = begin + threadIdx.x % LANES * V;

#pragma unroll
    for (int r = 0; r < ROWS; r++, i += LANES * V) {
        if (ALIGNED && i + V <= n) {
            x[r] = *(const vector<In, V> *)(in + i);
        } else {
#pragma unroll
            for (int k = 0; k < V; k++) x[r].e[k] = i + k < n ? in[i + k] : (In)0;
        }
    }
}

/* Stores a segment likewise, each sum with `base` added; what lies at n and beyond is left alone. */
template <bool ALIGNED, typename Sum, int V, int ROWS>
static __device__ void store_segment(Sum *out, size_t begin, size_t n, Sum base,
                                     const vector<Sum, V> (&y)[ROWS])
{
    size_t i = begin + threadIdx.x % LANES * V;

#pragma unroll
    for (int r = 0; r < ROWS; r++, i += LANES * V) {
        vector<Sum, V> z;
#pragma unroll
        for (int k = 0; k < V; k++) z.e[k] = base + y[r].e[k];
        if (ALIGNED && i + V <= n) {
            *(vector<Sum, V> *)(out + i) = z;
        } else {
#pragma unroll
            for (int k = 0; k < V; k++)
                if (i + k < n) out[i + k] = z.e[k];
        }
    }
}

#endif
