/*
 * bitonic.cuh — the lecture's bitonic sort of 32 keys, one a lane, by shuffles; and the end of any
 * bitonic sort, which is its last five steps.
 */
#ifndef STEP15_BITONIC_CUH
#define STEP15_BITONIC_CUH

#include "parts/keys.cuh"

/* Of this lane's x and that of lane ^ mask: the larger one if `larger`, otherwise the
 * smaller one. */
template <typename Key> static __device__ Key swap(Key x, unsigned mask, bool larger)
{
    Key y = __shfl_xor_sync(0xffffffffu, x, mask);
    return (x < y) == larger ? y : x;
}

/* Bit k of i, as the lecture writes it. */
static __device__ unsigned bfe(unsigned i, unsigned k) { return i >> k & 1; }

/* Sorts a bitonic sequence of 32 keys. */
template <typename Key> static __device__ Key end_of_bitonic_sort(Key x)
{
    unsigned lane = threadIdx.x % LANES;
    x = swap(x, 0x10, bfe(lane, 4));
    x = swap(x, 0x08, bfe(lane, 3));
    x = swap(x, 0x04, bfe(lane, 2));
    x = swap(x, 0x02, bfe(lane, 1));
    return swap(x, 0x01, bfe(lane, 0));
}

/* Sorts 32 keys: sequences of 2, 4, 8 and 16 keys go up and down in turn, so two of them together
 * are bitonic. */
template <typename Key> static __device__ Key bitonic_sort(Key x)
{
    unsigned lane = threadIdx.x % LANES;
    x = swap(x, 0x01, bfe(lane, 1) ^ bfe(lane, 0)); // 2
    x = swap(x, 0x02, bfe(lane, 2) ^ bfe(lane, 1)); // 4
    x = swap(x, 0x01, bfe(lane, 2) ^ bfe(lane, 0));
    x = swap(x, 0x04, bfe(lane, 3) ^ bfe(lane, 2)); // 8
    x = swap(x, 0x02, bfe(lane, 3) ^ bfe(lane, 1));
    x = swap(x, 0x01, bfe(lane, 3) ^ bfe(lane, 0));
    x = swap(x, 0x08, bfe(lane, 4) ^ bfe(lane, 3)); // 16
    x = swap(x, 0x04, bfe(lane, 4) ^ bfe(lane, 2));
    x = swap(x, 0x02, bfe(lane, 4) ^ bfe(lane, 1));
    x = swap(x, 0x01, bfe(lane, 4) ^ bfe(lane, 0));
    return end_of_bitonic_sort(x); // 32
}

/* A warp sorts each chunk of 32 keys. Stores keys decoded if these are all levels of the sort. */
template <typename Key>
static __global__ void sort_warps(Key *out, const Key *in, size_t n, codec<Key> c, bool last)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    Key x = bitonic_sort(i < n ? encode(in[i], c) : ~(Key)0);
    if (i < n) out[i] = last ? decode(x, c) : x;
}

#endif
