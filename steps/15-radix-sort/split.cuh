/*
 * split.cuh — step 1 of the document's sort: a block sorts a chunk in its shared memory, one bit of
 * the keys after the other.
 *
 * What it is: `split` puts all keys with a 0 in the bit before all keys with a 1. One scan says
 * where each key goes (GPU Gems 3, 39.3.3, with the correction of notes/errata.md). What is still
 * bad: a scan and six barriers for each bit, so 32 scans for a key of 32 bits.
 */
#ifndef STEP15_SPLIT_CUH
#define STEP15_SPLIT_CUH

#include "step15.h"
#include "parts/rank.cuh"

#define ALL_THE_LANES 0xffffffffu

/* The shared memory of a block. */
template <typename Key> struct chunk_memory {
    Key key[SPLIT_CHUNK];
    alignas(16) unsigned f[SPLIT_CHUNK]; // 1 for a false key; scanned, how many are before it
    unsigned warps[SPLIT_THREADS / LANES];
    unsigned total_falses;
};

/* The sum of x over this thread and those before it in its warp. */
static __device__ unsigned lanes_up_to(unsigned x)
{
#pragma unroll
    for (int d = 1; d < LANES; d *= 2) {
        unsigned left = __shfl_up_sync(ALL_THE_LANES, x, d);
        if (threadIdx.x % LANES >= d) x += left;
    }
    return x;
}

/* The scan of f, exclusive, in place: step 9's, with SPLIT_KEYS neighbours a thread. */
template <typename Key> static __device__ void enumerate(chunk_memory<Key> *m)
{
    static_assert(SPLIT_KEYS == 4 && SPLIT_THREADS == LANES * LANES, "a uint4 a thread");
    uint4 *mine = (uint4 *)m->f + threadIdx.x;
    unsigned warp = threadIdx.x / LANES;
    uint4 e = *mine;
    unsigned sum = e.x + e.y + e.z + e.w, up_to = lanes_up_to(sum);

    if (threadIdx.x % LANES == LANES - 1) m->warps[warp] = up_to;
    __syncthreads(); // the warps' sums may not be scanned before all are there
    if (warp == 0) m->warps[threadIdx.x] = lanes_up_to(m->warps[threadIdx.x]);
    __syncthreads(); // no thread may read the scanned sums before they are there
    unsigned before = up_to - sum + (warp > 0 ? m->warps[warp - 1] : 0);
    *mine = make_uint4(before, before + e.x, before + e.x + e.y, before + e.x + e.y + e.z);
}

/* The five steps of 39.3.3 for one bit of the chunk's keys. Begins and ends with all keys
 * in place. */
template <typename Key> static __device__ void split(chunk_memory<Key> *m, unsigned bit)
{
    Key key[SPLIT_KEYS];
    bool b[SPLIT_KEYS];

    // 1. A 1 for all false keys, a 0 for all true ones.
#pragma unroll
    for (unsigned k = 0; k < SPLIT_KEYS; k++) {
        unsigned i = threadIdx.x + k * SPLIT_THREADS;
        key[k] = m->key[i];
        b[k] = key[k] >> bit & 1;
        m->f[i] = !b[k];
    }
    __syncthreads(); // f may not be scanned before all of it is there

    // 2. The scan: each false key finds its destination.
    enumerate(m);
    __syncthreads(); // no thread may read f before it is scanned

    // 3. How many false keys there are: those before the last key, and that one if it is false.
    if (threadIdx.x == SPLIT_THREADS - 1)
        m->total_falses = m->f[SPLIT_CHUNK - 1] + !b[SPLIT_KEYS - 1];
    __syncthreads(); // no thread may read the total before it is there

    // 4. The destination of a true key, and 5. the scatter.
#pragma unroll
    for (unsigned k = 0; k < SPLIT_KEYS; k++) {
        unsigned i = threadIdx.x + k * SPLIT_THREADS, f = m->f[i];
        unsigned t = i - f + m->total_falses;
        m->key[b[k] ? t : f] = key[k];
    }
    __syncthreads(); // no thread may read a key before all are at their destinations
}

/* In all threads: are the chunk's keys in order? */
template <typename Key> static __device__ bool is_sorted(const chunk_memory<Key> *m)
{
    bool wrong = false;
#pragma unroll
    for (unsigned k = 0; k < SPLIT_KEYS; k++) {
        unsigned i = threadIdx.x + k * SPLIT_THREADS;
        wrong |= i + 1 < SPLIT_CHUNK && m->key[i] > m->key[i + 1];
    }
    return !__syncthreads_or(wrong); // no key may move before all have looked
}

/* A block sorts each chunk. Stores keys decoded if these are all levels of the sort. */
template <typename Key>
static __global__ void __launch_bounds__(SPLIT_THREADS)
    sort_chunks(Key *out, const Key *in, size_t n, codec<Key> c, bool last)
{
    extern __shared__ __align__(16) unsigned char memory[];
    chunk_memory<Key> *m = (chunk_memory<Key> *)memory;
    size_t first = (size_t)blockIdx.x * SPLIT_CHUNK + threadIdx.x;

    for (unsigned k = 0; k < SPLIT_KEYS; k++) {
        size_t i = first + k * SPLIT_THREADS;
        m->key[threadIdx.x + k * SPLIT_THREADS] = i < n ? encode(in[i], c) : ~(Key)0;
    }
    __syncthreads(); // no thread may read a key before all are loaded
    for (unsigned bit = 0; bit < 8 * sizeof(Key) && !is_sorted(m); bit++) split(m, bit);
    for (unsigned k = 0; k < SPLIT_KEYS; k++) {
        size_t i = first + k * SPLIT_THREADS;
        Key x = m->key[threadIdx.x + k * SPLIT_THREADS];
        if (i < n) out[i] = last ? decode(x, c) : x;
    }
}

#endif
