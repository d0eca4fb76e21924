/*
 * resident.cuh — the whole sort in one launch, for small n: keys stay in the shared memory of one
 * block, or of the blocks of one cluster.
 *
 * What it is: all passes in one kernel. In each pass a key goes from its thread's register to its
 * place in the shared memory of one of the blocks, and comes back into the register of the thread
 * that the place belongs to.
 * Same as onesweep.cuh except: no look-back. Each block sends its 256 counts to all others, and a
 * barrier of the cluster takes the place of the states.
 * What it fixes: five launches, and a trip through device memory between any two passes.
 * What is still bad: 16 of the multiprocessors work, and the others do nothing.
 */
#ifndef STEP15_RESIDENT_CUH
#define STEP15_RESIDENT_CUH

#include "parts/arrays.cuh"
#include "parts/cluster.cuh"
#include "parts/rank.cuh"

#define RESIDENT_WARPS (RESIDENT_THREADS / LANES)

/* The shared memory of a block. */
template <int KEYS, bool PAIRS, typename Key> struct resident_memory {
    static const int SHARE = KEYS * RESIDENT_THREADS; // keys of a block
    Key keys[SHARE];
    uint32_t values[PAIRS ? SHARE : 1];
    alignas(16) unsigned counters[RESIDENT_WARPS][DIGITS];
    uint32_t counts[2][CLUSTER_MOST][DIGITS]; // of all blocks, for even and for odd passes
    unsigned sums[DIGITS / LANES];
};

/* Number k of this thread's keys, in its block's share. */
template <int KEYS> static __device__ unsigned index_of(int k)
{
    return threadIdx.x / LANES * KEYS * LANES + k * LANES + threadIdx.x % LANES;
}

template <int KEYS, bool PAIRS, typename Key>
static __device__ void load_share(Key (&x)[KEYS], uint32_t (&value)[PAIRS ? KEYS : 1],
                                  struct arrays<Key> a, unsigned first, unsigned n, codec<Key> c)
{
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        unsigned i = first + index_of<KEYS>(k);
        x[k] = i < n ? encode(a.in[i], c) : ~(Key)0; // behind all others, in each pass
        if (PAIRS) value[PAIRS ? k : 0] = a.values_in != NULL && i < n ? a.values_in[i] : i;
    }
}

template <bool PAIRS, typename Key>
static __device__ void store_key(struct arrays<Key> a, unsigned i, unsigned n, Key x,
                                 uint32_t value, codec<Key> c)
{
    if (i >= n) return;
    a.out[i] = decode(x, c);
    if (PAIRS) a.values_out[i] = value;
}

/* From counters to places in the whole cluster. True in all threads if a digit is that of all keys:
 * then each key would stay where it is. */
template <int KEYS, bool PAIRS, typename Key>
static __device__ bool find_places(resident_memory<KEYS, PAIRS, Key> *m, unsigned pass)
{
    unsigned d = threadIdx.x, rank = cluster_rank(), blocks = cluster_size();
    uint32_t(*counts)[DIGITS] = m->counts[pass % 2];
    unsigned total = 0, before = 0;

    __syncthreads(); // no thread may add up counters before all warps have counted
    if (d < DIGITS) {
        unsigned count = count_in_block<RESIDENT_WARPS>(m->counters);
        for (unsigned b = 0; b < blocks; b++) store_in_block(&counts[rank][d], b, count);
    }
    // No thread may read counts before those of all blocks are there. The counts of the last pass
    // may still be read meanwhile; these are others. A key in a register has left its place, so
    // places are free once all blocks have counted.
    cluster_sync(blocks);
    if (d < DIGITS)
        for (unsigned b = 0; b < blocks; b++) {
            unsigned count = counts[b][d];
            total += count;
            if (b < rank) before += count;
        }
    unsigned place = sum_before(total, m->sums) + before;
    if (d < DIGITS) counters_to_places<RESIDENT_WARPS>(m->counters, place);
    // No warp may take places before they are there.
    return __syncthreads_or(d < DIGITS && total == blocks * m->SHARE);
}

/* Sorts n keys with one block or one cluster, whose blocks have room for n keys. */
template <int KEYS, bool PAIRS, typename Key>
static __global__ void __launch_bounds__(RESIDENT_THREADS, 1)
    sort_resident(struct arrays<Key> a, unsigned n, codec<Key> c)
{
    typedef resident_memory<KEYS, PAIRS, Key> Memory;
    static_assert(RESIDENT_THREADS >= DIGITS, "a thread for each digit");
    extern __shared__ __align__(16) unsigned char memory[];
    Memory *m = (Memory *)memory;
    unsigned *row = m->counters[threadIdx.x / LANES];
    unsigned blocks = cluster_size(), first = cluster_rank() * Memory::SHARE;
    Key x[KEYS];
    uint32_t value[PAIRS ? KEYS : 1] = {};

    load_share<KEYS, PAIRS>(x, value, a, first, n, c);
    cluster_sync(blocks); // a block's shared memory may not be used before the block runs
#pragma unroll 1
    for (unsigned pass = 0; pass < PASSES(sizeof(Key)); pass++) {
        __syncwarp(); // no lane may clear the row before all have taken their places
        clear_row(row);
#pragma unroll
        for (int k = 0; k < KEYS; k++) atomicAdd(&row[digit_of(x[k], pass)], 1);
        if (find_places<KEYS, PAIRS>(m, pass)) continue;
        unsigned digit = anew(pass); // digits are computed anew: see onesweep.cuh
        bool direct = KEYS <= RESIDENT_DIRECT && pass + 1 == PASSES(sizeof(Key));
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            unsigned place = take_place(row, digit_of(x[k], digit));
            unsigned block = place / Memory::SHARE, i = place % Memory::SHARE;
            if (direct) {
                store_key<PAIRS>(a, place, n, x[k], value[PAIRS ? k : 0], c);
                continue;
            }
            store_in_block(&m->keys[i], block, x[k]);
            if (PAIRS) store_in_block(&m->values[i], block, value[PAIRS ? k : 0]);
        }
        if (direct) return; // nothing is on its way into this block's shared memory
        cluster_sync(blocks); // no key may be loaded before all blocks have stored
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            x[k] = m->keys[index_of<KEYS>(k)];
            if (PAIRS) value[PAIRS ? k : 0] = m->values[index_of<KEYS>(k)];
        }
    }
#pragma unroll
    for (int k = 0; k < KEYS; k++)
        store_key<PAIRS>(a, first + index_of<KEYS>(k), n, x[k], value[PAIRS ? k : 0], c);
}

#endif
