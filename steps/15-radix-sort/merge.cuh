/*
 * merge.cuh — step 2 of the document's sort: a block merges two sorted runs into one.
 *
 * What it is: p threads compare the next p keys of one run, from the front, with the next p keys of
 * the other, from the back. The smaller keys of these p pairs are the p smallest of all that is
 * left, and they are bitonic: log2 p steps sort them (GPU Gems 3, 39.3.3, Figure 39-15). What is
 * still bad: a block is alone with its two runs, so the last merge has one block for all keys.
 */
#ifndef STEP15_MERGE_CUH
#define STEP15_MERGE_CUH

#include "parts/rank.cuh"

/* ---- bitonic sort ---------------------------------------------------------------------------- */

/*
 * The lecture's bitonic sort of 32 keys, one a lane, by shuffles; and the end of any
 * bitonic sort, which is its last five steps.
 */

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

/* ---- merge ----------------------------------------------------------------------------------- */

#define MERGE_THREADS 512                 /* p */
#define MERGE_RING    (2 * MERGE_THREADS) /* keys of each run in shared memory */

template <typename Key> struct merge_memory {
    Key ring[2][MERGE_RING];
    Key exchange[2][MERGE_THREADS];
};

/* One of the two runs: how much of it there is, has come into the ring, and has left it. */
template <typename Key> struct run {
    const Key *key;
    size_t length, loaded, merged;
};

/* Loads the next p keys if there are fewer than p in the ring. Behind the end, keys of all ones. */
template <typename Key> static __device__ void refill(Key *ring, struct run<Key> *r)
{
    if (r->loaded - r->merged >= MERGE_THREADS) return;
    size_t i = r->loaded + threadIdx.x;
    ring[i % MERGE_RING] = i < r->length ? r->key[i] : ~(Key)0;
    r->loaded += MERGE_THREADS;
}

/* Sorts a bitonic sequence of p keys, one a thread: through shared memory as long as the partner is
 * in another warp, then by shuffles. Two arrays in turn, so that one barrier a step is enough. */
template <typename Key> static __device__ Key sort_bitonic(Key (*exchange)[MERGE_THREADS], Key x)
{
    for (unsigned mask = MERGE_THREADS / 2, turn = 0; mask >= LANES; mask /= 2, turn ^= 1) {
        exchange[turn][threadIdx.x] = x;
        __syncthreads(); // no thread may read its partner's key before it is there
        Key y = exchange[turn][threadIdx.x ^ mask];
        bool larger = (threadIdx.x & mask) != 0;
        x = (x < y) == larger ? y : x;
    }
    return end_of_bitonic_sort(x);
}

/* Merges the runs of `run_length` keys in pairs; the last run may be shorter, or alone. Each key is
 * read once and written once. Stores keys decoded if this is the last level. */
template <typename Key>
static __global__ void __launch_bounds__(MERGE_THREADS)
    merge_runs(Key *out, const Key *in, size_t n, size_t run_length, codec<Key> c, bool last)
{
    __shared__ merge_memory<Key> m;
    size_t begin = blockIdx.x * 2 * run_length, left = n - begin;
    size_t a_length = left < run_length ? left : run_length;
    size_t b_length = left - a_length < run_length ? left - a_length : run_length;
    struct run<Key> a = {in + begin, a_length, 0, 0}, b = {in + begin + a_length, b_length, 0, 0};

    for (size_t done = 0; done < a_length + b_length; done += MERGE_THREADS) {
        refill(m.ring[0], &a);
        refill(m.ring[1], &b);
        __syncthreads(); // no thread may read the rings before they are filled
        Key x = m.ring[0][(a.merged + threadIdx.x) % MERGE_RING];
        Key y = m.ring[1][(b.merged + MERGE_THREADS - 1 - threadIdx.x) % MERGE_RING];
        // How many come from a. No ring may be filled again before all threads have read it.
        unsigned from_a = __syncthreads_count(x <= y);
        x = sort_bitonic(m.exchange, x <= y ? x : y);
        size_t i = done + threadIdx.x;
        if (i < a_length + b_length) out[begin + i] = last ? decode(x, c) : x;
        a.merged += from_a;
        b.merged += MERGE_THREADS - from_a;
    }
}

#endif
