/*
 * resident.cuh — the whole sort in one launch, for small n: keys stay in the shared memory of one
 * block, or of the blocks of one cluster.
 *
 * What it is: all passes in one kernel. In each pass a block puts its keys in the order of the
 * digit. Then it sends each key to its place in the shared memory of one of the blocks. The thread
 * that the place belongs to takes the key into a register.
 * Same as onesweep.cuh except: no look-back. Each block sends its 256 counts to all others. Counts
 * and keys arrive at barriers of the receiving block, which takes the place of the states.
 * What it fixes: one launch in place of five, and no device memory between the passes.
 * What is still bad: at most 16 multiprocessors work, and the others do nothing (wave.cuh). From
 * 2^15 keys on, finding the places of a thread's keys takes most of the time.
 */
#ifndef STEP15_RESIDENT_CUH
#define STEP15_RESIDENT_CUH

#include "parts/states.cuh"
#include "parts/rank.cuh"

#define RESIDENT_WARPS (RESIDENT_THREADS / LANES)

/* The shared memory of a block. A block that is alone gets only the part before `received`. */
template <int KEYS, bool PAIRS, typename Key> struct resident_memory {
    static const int SHARE = KEYS * RESIDENT_THREADS; // keys of a block
    Key keys[SHARE];                                  // of this block, in the order of the digit
    uint32_t values[PAIRS ? SHARE : 1];
    alignas(16) unsigned counters[RESIDENT_WARPS][DIGITS];
    unsigned to[DIGITS]; // place in the cluster, less that in the block
    unsigned sums[DIGITS / LANES];

    struct {
        Key keys[SHARE];
        uint32_t values[PAIRS ? SHARE : 1];
        alignas(8) uint16_t counts[2][CLUSTER_MOST][DIGITS]; // for even and for odd passes
        barrier counts_there[2], keys_there;
    } received; // from all blocks of the cluster
};

/* The bytes of it that a block needs. */
template <int KEYS, bool PAIRS, typename Key>
static constexpr size_t resident_bytes(unsigned blocks)
{
    typedef resident_memory<KEYS, PAIRS, Key> Memory;
    return blocks == 1 ? offsetof(Memory, received) : sizeof(Memory);
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

/* ---- within the block ------------------------------------------------------------------------ */

/* As take_place of rank.cuh, which has fewer accesses to shared memory. This one has the answer
 * sooner, and few warps of a block that is alone on its multiprocessor wait for each other. */
static __device__ unsigned take_place_soon(unsigned *row, unsigned digit)
{
    unsigned peers = lanes_with_digit(digit), up_to = lanes_up_to_this();
    unsigned next = row[digit] + __popc(peers & up_to);
    __syncwarp(); // no lane may write before all have read
    if ((peers & ~up_to) == 0) row[digit] = next;
    __syncwarp(); // no lane may read for the next key before this is written
    return next - 1;
}

/* Finds the place of each key among the keys of its warp with the same digit. */
template <int KEYS, typename Key>
static __device__ void rank_keys(unsigned (&rank)[KEYS], const Key (&x)[KEYS], unsigned *row,
                                 unsigned pass)
{
    __syncwarp(); // no lane may clear the row before all have read their places
    clear_row(row);
#pragma unroll
    for (int k = 0; k < KEYS; k++) rank[k] = take_place_soon(row, digit_of(x[k], pass));
}

/* As count_in_block of rank.cuh; counts[w] becomes the count of warp w. */
static __device__ unsigned take_counts(unsigned (&counts)[RESIDENT_WARPS],
                                       const unsigned (*counters)[DIGITS])
{
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < RESIDENT_WARPS; w++) sum += counts[w] = counters[w][threadIdx.x];
    return sum;
}

/* As counters_to_places of rank.cuh, which reads the counters once more and takes fewer
 * registers. */
static __device__ void counts_to_places(unsigned (*counters)[DIGITS],
                                        const unsigned (&counts)[RESIDENT_WARPS], unsigned place)
{
#pragma unroll
    for (int w = 0; w < RESIDENT_WARPS; w++) {
        counters[w][threadIdx.x] = place;
        place += counts[w];
    }
}

/* Puts the keys in the order of the digit, within the block. */
template <int KEYS, bool PAIRS, typename Memory, typename Key>
static __device__ void put_in_order(Memory *m, const Key (&x)[KEYS],
                                    const uint32_t (&value)[PAIRS ? KEYS : 1],
                                    const unsigned (&rank)[KEYS], unsigned pass)
{
    const unsigned *row = m->counters[threadIdx.x / LANES];
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        unsigned place = row[digit_of(x[k], pass)] + rank[k];
        m->keys[place] = x[k];
        if (PAIRS) m->values[place] = value[PAIRS ? k : 0];
    }
}

/* Takes this thread's keys, at the end of a pass. */
template <int KEYS, bool PAIRS, typename Key>
static __device__ void take_keys(Key (&x)[KEYS], uint32_t (&value)[PAIRS ? KEYS : 1],
                                 const Key *keys, const uint32_t *values)
{
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        x[k] = keys[index_of<KEYS>(k)];
        if (PAIRS) value[PAIRS ? k : 0] = values[index_of<KEYS>(k)];
    }
}

/* Is it so in any thread of the block? All threads call it and get the same answer, so the vote
 * changes nothing. But without it ptxas (13.0) can make code for Hopper only, and of PTX for Hopper
 * only: if the barrier itself says whether a loop goes on, the eight votes of take_place in that
 * loop need more predicates than there are ("Register allocation failed with register count of
 * '7'"). */
static __device__ bool in_any_thread(bool is)
{
#if __CUDA_ARCH__ == 900
    return __syncthreads_or(is);
#else
    return __any_sync(ALL_LANES, __syncthreads_or(is));
#endif
}

/* ---- between the blocks of a cluster --------------------------------------------------------- */

#if __CUDA_ARCH__ >= 900

/* Makes the barriers for what blocks send. */
template <typename Received> static __device__ void make_barriers(Received *r)
{
    if (threadIdx.x == 0) { // one arrival: that of the thread that says how many bytes will come
        barrier_init(&r->counts_there[0], 1);
        barrier_init(&r->counts_there[1], 1);
        barrier_init(&r->keys_there, 1);
        barrier_init_done();
    }
    cluster_sync(); // no block may send before the barriers of all blocks are made
}

/* Sends the count of digit threadIdx.x to all blocks. Four lanes put their counts into one word,
 * and each of them sends it to every fourth block. For the first DIGITS threads. */
static __device__ void send_counts(uint16_t (*counts)[DIGITS], unsigned count, barrier *there)
{
    const unsigned EACH = sizeof(uint64_t) / sizeof(uint16_t), BITS = 16;
    unsigned part = threadIdx.x % EACH, blocks = cluster_size();
    unsigned next = __shfl_xor_sync(ALL_LANES, count, 1);
    unsigned two = part & 1 ? count << BITS | next : next << BITS | count;
    unsigned others = __shfl_xor_sync(ALL_LANES, two, 2);
    uint64_t four = part & 2 ? (uint64_t)two << 32 | others : (uint64_t)others << 32 | two;
    uint64_t *to = (uint64_t *)&counts[cluster_rank()][threadIdx.x - part];
    for (unsigned b = part; b < blocks; b += EACH) send(to, b, four, there);
}

/* Waits for the counts of all blocks, and finds where in the cluster each digit of this block goes.
 * Returns true in all threads if all keys have the same digit: then each key stays where it is. */
template <int KEYS, bool PAIRS, typename Key>
static __device__ bool find_places_in_cluster(resident_memory<KEYS, PAIRS, Key> *m,
                                              unsigned in_block, unsigned pass)
{
    unsigned d = threadIdx.x, rank = cluster_rank(), blocks = cluster_size();
    unsigned which = pass % 2, total = 0, before = 0;
    barrier *there = &m->received.counts_there[which];

    if (d == 0) barrier_arrive_expect(there, blocks * DIGITS * sizeof(uint16_t));
    wait_for_blocks(there, pass / 2 % 2);
    if (d < DIGITS) {
#pragma unroll
        for (unsigned b = 0; b < CLUSTER_MOST; b++) {
            unsigned theirs = b < blocks ? m->received.counts[which][b][d] : 0;
            total += theirs;
            before += b < rank ? theirs : 0;
        }
    }
    unsigned in_cluster = sum_before(total, m->sums) + before;
    if (d < DIGITS) m->to[d] = in_cluster - in_block;
    // No key may be sent before its place is there, and before the block's keys are in order.
    return in_any_thread(d < DIGITS && total == blocks * m->SHARE);
}

/* Sends each key of the block to its place in the cluster: into `out` at the end, before that into
 * the shared memory of the block that the place belongs to. Neighbouring lanes have neighbouring
 * keys, most of which go to neighbouring places. */
template <int KEYS, bool PAIRS, typename Key>
static __device__ void send_keys(resident_memory<KEYS, PAIRS, Key> *m, struct arrays<Key> a,
                                 unsigned n, unsigned pass, bool to_out, codec<Key> c)
{
    barrier *there = &m->received.keys_there;
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        unsigned i = threadIdx.x + k * RESIDENT_THREADS;
        Key y = m->keys[i];
        uint32_t value = PAIRS ? m->values[i] : 0;
        unsigned place = m->to[digit_of(y, pass)] + i;
        unsigned block = place / m->SHARE, at = place % m->SHARE;
        if (to_out) {
            store_key<PAIRS>(a, place, n, y, value, c);
        } else {
            send(&m->received.keys[at], block, y, there);
            if (PAIRS) send(&m->received.values[at], block, value, there);
        }
    }
}

/* Waits until all places of this block have their keys. `parity` is that of the exchange. */
template <int KEYS, bool PAIRS, typename Key>
static __device__ void wait_for_keys(resident_memory<KEYS, PAIRS, Key> *m, unsigned parity)
{
    barrier *there = &m->received.keys_there;
    if (threadIdx.x == 0)
        barrier_arrive_expect(there, m->SHARE * (sizeof(Key) + (PAIRS ? sizeof(uint32_t) : 0)));
    wait_for_blocks(there, parity);
}

#endif

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Sorts n keys with one block or one cluster, whose blocks have room for n keys. */
template <int KEYS, bool PAIRS, typename Key>
static __global__ void __launch_bounds__(RESIDENT_THREADS, 1)
    sort_resident(struct arrays<Key> a, unsigned n, codec<Key> c)
{
    typedef resident_memory<KEYS, PAIRS, Key> Memory;
    static_assert(RESIDENT_THREADS >= DIGITS, "a thread for each digit");
    static_assert(Memory::SHARE <= UINT16_MAX, "a count takes 16 bits");
    extern __shared__ __align__(16) unsigned char memory[];
    Memory *m = (Memory *)memory;
    unsigned d = threadIdx.x, blocks = cluster_size(), first = cluster_rank() * Memory::SHARE;
    unsigned rank[KEYS], counts[RESIDENT_WARPS];
    Key x[KEYS];
    uint32_t value[PAIRS ? KEYS : 1] = {};

    load_share<KEYS, PAIRS>(x, value, a, first, n, c);
#if __CUDA_ARCH__ >= 900
    unsigned parity = 0; // of the next exchange of keys
    if (blocks > 1) make_barriers(&m->received);
#endif
#pragma unroll 1
    for (unsigned pass = 0; pass < PASSES(sizeof(Key)); pass++) {
        bool last = pass + 1 == PASSES(sizeof(Key));
        rank_keys(rank, x, m->counters[threadIdx.x / LANES], pass);
        __syncthreads(); // no thread may add up counters before all warps have counted
        unsigned count = d < DIGITS ? take_counts(counts, m->counters) : 0;
#if __CUDA_ARCH__ >= 900
        // Counts are on their way while the block puts its keys in order.
        if (blocks > 1 && d < DIGITS)
            send_counts(m->received.counts[pass % 2], count, &m->received.counts_there[pass % 2]);
#endif
        unsigned in_block = sum_before(count, m->sums);
        if (d < DIGITS) counts_to_places(m->counters, counts, in_block);
        // No warp may take places before they are there.
        if (in_any_thread(blocks == 1 && count == Memory::SHARE)) continue; // all the same
        put_in_order<KEYS, PAIRS>(m, x, value, rank,
                                  anew(pass)); // digits are computed anew: see onesweep.cuh
#if __CUDA_ARCH__ >= 900
        if (blocks > 1) {
            if (find_places_in_cluster(m, in_block, pass)) continue;
            send_keys(m, a, n, pass, last, c);
            if (last) return; // nothing is on its way into this block's shared memory
            wait_for_keys(m, parity);
            take_keys<KEYS, PAIRS>(x, value, m->received.keys, m->received.values);
            parity ^= 1;
            continue;
        }
#endif
        __syncthreads(); // no key may be taken before all are in order
        if (!last) take_keys<KEYS, PAIRS>(x, value, m->keys, m->values);
        for (unsigned i = d; last && i < n; i += RESIDENT_THREADS)
            store_key<PAIRS>(a, i, n, m->keys[i], PAIRS ? m->values[i] : 0, c);
        if (last) return;
    }
    // The last pass had nothing to do, so the keys are in registers.
#pragma unroll
    for (int k = 0; k < KEYS; k++)
        store_key<PAIRS>(a, first + index_of<KEYS>(k), n, x[k], value[PAIRS ? k : 0], c);
}

#endif
