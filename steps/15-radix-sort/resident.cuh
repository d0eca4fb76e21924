/*
 * resident.cuh — the whole sort in one launch, for small n: keys stay in the shared memory of one
 * block, or of the blocks of one cluster.
 *
 * What it is: all passes in one kernel. In each pass a key goes from its thread's register to its
 * place in the shared memory of one of the blocks, and comes back into the register of the thread
 * that the place belongs to.
 * Same as onesweep.cuh except: no look-back. Each block sends its 256 counts to all others, and a
 * barrier of the cluster takes the place of the states.
 * What it fixes: one launch in place of five, and no device memory between the passes.
 * What is still bad: at most 16 multiprocessors work, and the others do nothing.
 */
#ifndef STEP15_RESIDENT_CUH
#define STEP15_RESIDENT_CUH

#include "parts/arrays.cuh"
#include "parts/cluster.cuh"
#include "parts/rank.cuh"

#define RESIDENT_WARPS (RESIDENT_THREADS / LANES)

/* Are the keys put in order within their block first, so that neighbouring lanes store neighbouring
 * keys into another block? That takes as much shared memory again. */
template <int KEYS, bool PAIRS, typename Key> static constexpr bool gathers()
{
    return KEYS >= RESIDENT_GATHER_FROM &&
           KEYS * RESIDENT_THREADS * (sizeof(Key) + (PAIRS ? sizeof(uint32_t) : 0)) <=
               RESIDENT_GATHER_MOST;
}

/* The shared memory of a block. */
template <int KEYS, bool PAIRS, typename Key> struct resident_memory {
    static const int SHARE = KEYS * RESIDENT_THREADS; // keys of a block
    static const bool GATHER = gathers<KEYS, PAIRS, Key>();
    Key keys[SHARE];
    Key own_keys[GATHER ? SHARE : 1]; // those that this block has yet to send, in order
    uint32_t values[PAIRS ? SHARE : 1];
    uint32_t own_values[GATHER && PAIRS ? SHARE : 1];
    alignas(16) unsigned counters[RESIDENT_WARPS][DIGITS];
    uint32_t counts[2][CLUSTER_MOST][DIGITS]; // of all blocks, for even and for odd passes
    unsigned to[DIGITS];                      // place in the cluster, less that in the block
    uint64_t sums[DIGITS / LANES];
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

/* Turns counters into places: in the block if it gathers keys, otherwise in the whole cluster.
 * Returns true in all threads if all keys have the same digit: then each key would stay where it
 * is. */
template <int KEYS, bool PAIRS, typename Key>
static __device__ bool find_places(resident_memory<KEYS, PAIRS, Key> *m, unsigned pass)
{
    unsigned d = threadIdx.x, rank = cluster_rank(), blocks = cluster_size();
    uint32_t(*counts)[DIGITS] = m->counts[pass % 2];
    unsigned total = 0, before = 0, count = 0;

    __syncthreads(); // no thread may add up counters before all warps have counted
    if (d < DIGITS) {
        count = count_in_block<RESIDENT_WARPS>(m->counters);
        for (unsigned b = 0; b < blocks; b++) store_in_block(&counts[rank][d], b, count);
    }
    // No thread may read counts before those of all blocks are there. The counts of the last pass
    // may still be read meanwhile; these are others. A key in a register has left its place, so
    // places are free once all blocks have counted.
    cluster_sync(blocks);
    if (d < DIGITS)
        for (unsigned b = 0; b < blocks; b++) {
            unsigned theirs = counts[b][d];
            total += theirs;
            if (b < rank) before += theirs;
        }
    // Two sums in one: of all keys in the lower half, of this block's keys in the upper half.
    uint64_t both = sum_before((uint64_t)count << 32 | total, m->sums);
    unsigned in_cluster = (unsigned)both + before, in_block = (unsigned)(both >> 32);
    if (d < DIGITS) {
        counters_to_places<RESIDENT_WARPS>(m->counters, m->GATHER ? in_block : in_cluster);
        m->to[d] = in_cluster - in_block;
    }
    // No warp may take places before they are there.
    return __syncthreads_or(d < DIGITS && total == blocks * m->SHARE);
}

/* Puts a key to its place in the cluster: into `out` at the end, before that into the shared memory
 * of the block that the place belongs to. */
template <int KEYS, bool PAIRS, typename Key>
static __device__ void put_key(resident_memory<KEYS, PAIRS, Key> *m, struct arrays<Key> a,
                               unsigned n, unsigned place, Key x, uint32_t value, bool to_out,
                               codec<Key> c)
{
    if (to_out) {
        store_key<PAIRS>(a, place, n, x, value, c);
        return;
    }
    unsigned block = place / m->SHARE, i = place % m->SHARE;
    store_in_block(&m->keys[i], block, x);
    if (PAIRS) store_in_block(&m->values[i], block, value);
}

/* Each key of this thread goes to its place. */
template <int KEYS, bool PAIRS, typename Key>
static __device__ void put_keys(resident_memory<KEYS, PAIRS, Key> *m, struct arrays<Key> a,
                                unsigned n, const Key (&x)[KEYS],
                                const uint32_t (&value)[PAIRS ? KEYS : 1], unsigned pass,
                                bool to_out, codec<Key> c)
{
    unsigned *row = m->counters[threadIdx.x / LANES];
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        unsigned place = take_place(row, digit_of(x[k], pass));
        if (m->GATHER) {
            m->own_keys[place] = x[k];
            if (PAIRS) m->own_values[place] = value[PAIRS ? k : 0];
        } else {
            put_key(m, a, n, place, x[k], value[PAIRS ? k : 0], to_out, c);
        }
    }
    if (!m->GATHER) return;
    __syncthreads(); // no key may be sent before all of the block are in order
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        unsigned i = threadIdx.x + k * RESIDENT_THREADS;
        Key y = m->own_keys[i];
        put_key(m, a, n, m->to[digit_of(y, pass)] + i, y, PAIRS ? m->own_values[i] : 0, to_out, c);
    }
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
        bool to_out =
            (m->GATHER || KEYS <= RESIDENT_DIRECT) && pass + 1 == PASSES(sizeof(Key));
        put_keys<KEYS, PAIRS>(m, a, n, x, value, digit, to_out, c);
        if (to_out) return; // nothing is on its way into this block's shared memory
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
