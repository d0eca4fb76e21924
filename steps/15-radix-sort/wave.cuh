/*
 * wave.cuh — the whole sort in one launch, for more keys than one cluster takes: a block on each
 * multiprocessor, all of them at the same time.
 *
 * What it is: each block has a share of the keys. In each pass it puts its keys in the order of the
 * digit, publishes its 256 counts, and adds up those of all blocks. Then it stores each key to its
 * place in device memory. When all blocks have stored, each takes its next share from there.
 * Same as resident.cuh except: counts and keys go through device memory, which here means the L2
 * cache, as they all fit into it. So every block of the GPU can take part, not only a cluster.
 * What it fixes: five launches, each of which takes longer than its memory accesses.
 * What is still bad: in each pass the blocks wait for each other twice, and
 * each block reads the counts of all blocks.
 */
#ifndef STEP15_WAVE_CUH
#define STEP15_WAVE_CUH

#include "parts/states.cuh"
#include "resident.cuh"

#define WAVE_WARPS  (WAVE_THREADS / LANES)
#define WAVE_GROUPS (WAVE_THREADS / DIGITS)     /* threads for each digit */
#define WAVE_EACH   (WAVE_WARPS / WAVE_GROUPS)  /* warps whose counters each of them adds up */
#define WAVE_ROWS   (WAVE_THREADS / WAVE_WORDS) /* blocks whose counts are read at a time */

/* The shared memory of a block. */
template <int KEYS, bool PAIRS, typename Key> struct wave_memory {
    static const int SHARE = KEYS * WAVE_THREADS; // keys of a block
    Key keys[SHARE];                              // in the order of the digit
    uint32_t values[PAIRS ? SHARE : 1];
    alignas(16) unsigned counters[WAVE_WARPS][DIGITS];
    unsigned groups[WAVE_GROUPS][DIGITS];   // sums of counters
    unsigned total[DIGITS], before[DIGITS]; // keys of all blocks, of the blocks before this one
    unsigned to[DIGITS];                    // place in `out`, less that in the block
    unsigned sums[DIGITS / LANES];
};

/* ---- counts ---------------------------------------------------------------------------------- */

/* Publishes the count of digit threadIdx.x. Four counts are one word, as in resident.cuh. Its upper
 * bit says that it is there, so no other flag has to follow it. For the first DIGITS threads. */
#define COUNTS_THERE ((uint64_t)1 << 63)
static __device__ void publish(uint64_t *words, unsigned count)
{
    const unsigned EACH = sizeof(uint64_t) / sizeof(uint16_t), BITS = 16;
    unsigned two = __shfl_down_sync(ALL_LANES, count, 1) << BITS | count;
    uint64_t four = (uint64_t)__shfl_down_sync(ALL_LANES, two, 2) << 2 * BITS | two;
    if (threadIdx.x % EACH == 0) write_state(&words[threadIdx.x / EACH], four | COUNTS_THERE);
}

/* Publishes the block's counts, and turns its counters into places. Returns the place in the block
 * of its first key with digit threadIdx.x. */
template <typename Memory> static __device__ unsigned publish_counts(Memory *m, uint64_t *words)
{
    unsigned d = threadIdx.x % DIGITS, group = threadIdx.x / DIGITS, counts[WAVE_EACH], sum = 0;
    unsigned(*counters)[DIGITS] = &m->counters[group * WAVE_EACH];
#pragma unroll
    for (int w = 0; w < WAVE_EACH; w++) sum += counts[w] = counters[w][d];
    m->groups[group][d] = sum;
    if (group == 0) m->total[d] = m->before[d] = 0;
    __syncthreads();                // no thread may read the groups' sums before all are there
    unsigned count = 0, before = 0; // in this block, in its groups before this one
#pragma unroll
    for (int g = 0; g < WAVE_GROUPS; g++) {
        if (g == group) before = count;
        count += m->groups[g][d];
    }
    if (group == 0) publish(words, count);
    unsigned in_block = sum_before(count, m->sums), place = in_block + before;
#pragma unroll
    for (int w = 0; w < WAVE_EACH; w++) {
        counters[w][d] = place;
        place += counts[w];
    }
    return in_block;
}

/* Adds up what all blocks have published. A thread reads a word of every WAVE_ROWS-th block: all at
 * once, as each answer takes long, and then again those that are not there yet. */
template <typename Memory>
static __device__ void add_up_blocks(Memory *m, const uint64_t (*counts)[WAVE_WORDS])
{
    const int READS = (WAVE_BLOCKS_MOST - 1) / WAVE_ROWS + 1, EACH = DIGITS / WAVE_WORDS;
    const int AT_ONCE = UINT16_MAX / Memory::SHARE; // words whose sum is four counts of 16 bits
    unsigned word = threadIdx.x % WAVE_WORDS, first = threadIdx.x / WAVE_WORDS;
    unsigned total[EACH] = {}, before[EACH] = {};
    uint64_t found[READS];
#pragma unroll
    for (int i = 0; i < READS; i++) {
        unsigned b = first + i * WAVE_ROWS;
        if (b < gridDim.x) found[i] = read_state(&counts[b][word]);
    }
#pragma unroll
    for (int begin = 0; begin < READS; begin += AT_ONCE) {
        uint64_t all = 0, earlier = 0;
#pragma unroll
        for (int i = begin; i < begin + AT_ONCE && i < READS; i++) {
            unsigned b = first + i * WAVE_ROWS;
            if (b >= gridDim.x) continue;
            while (found[i] == 0) found[i] = read_state(&counts[b][word]);
            all += found[i] & ~COUNTS_THERE;
            if (b < blockIdx.x) earlier += found[i] & ~COUNTS_THERE;
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            total[k] += (unsigned)(all >> 16 * k) & UINT16_MAX;
            before[k] += (unsigned)(earlier >> 16 * k) & UINT16_MAX;
        }
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        atomicAdd(&m->total[word * EACH + k], total[k]);
        atomicAdd(&m->before[word * EACH + k], before[k]);
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Stores the keys of the block at their places. */
template <int KEYS, bool PAIRS, typename Memory, typename Key>
static __device__ void store_share(Key *out, uint32_t *values_out, const Memory *m, unsigned n,
                                   unsigned pass, bool last, codec<Key> c)
{
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        unsigned i = threadIdx.x + k * WAVE_THREADS;
        Key x = m->keys[i];
        unsigned to = m->to[digit_of(x, pass)] + i;
        if (to >= n) continue; // one of those that fill up the last share
        out[to] = last ? decode(x, c) : x;
        if (PAIRS) values_out[to] = m->values[i];
    }
}

/* Takes the keys of this thread, in the share that begins with key number `first`. */
template <int KEYS, bool PAIRS, typename Key>
static __device__ void take_share(Key (&x)[KEYS], uint32_t (&value)[PAIRS ? KEYS : 1],
                                  const Key *in, const uint32_t *values_in, unsigned first,
                                  unsigned n)
{
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        unsigned i = first + index_of<KEYS>(k);
        x[k] = i < n ? in[i] : ~(Key)0;
        if (PAIRS && i < n) value[PAIRS ? k : 0] = values_in[i];
    }
}

/* Waits until all blocks have arrived. What they stored before is visible to all threads behind it.
 * The arrival needs no answer, so it and the first look at the number are on their way together;
 * cooperative groups' grid.sync() waits for one after the other. */
static __device__ void wait_for_all_blocks(unsigned *arrived)
{
    __syncthreads(); // the block may not arrive before all its threads have stored
    if (threadIdx.x == 0) {
        auto number = __cvta_generic_to_global(arrived);
        unsigned seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(number) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(seen)
                         : "l"(number)
                         : "memory");
        } while (seen < gridDim.x);
    }
    __syncthreads(); // no thread may go on before the first one has seen all blocks
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Sorts n keys with blocks that all run at the same time, and have room for n keys. */
template <int KEYS, bool PAIRS, typename Key>
static __global__ void __launch_bounds__(WAVE_THREADS, 1)
    sort_wave(struct arrays<Key> a, unsigned n, codec<Key> c, struct control *control)
{
    typedef wave_memory<KEYS, PAIRS, Key> Memory;
    static_assert(WAVE_THREADS % DIGITS == 0, "as many threads for each digit");
    static_assert(PASSES(sizeof(Key)) % 2 == 0, "the last pass stores to a.out");
    static_assert(Memory::SHARE < 1 << 15, "a count takes 15 bits");
    extern __shared__ __align__(16) unsigned char memory[];
    Memory *m = (Memory *)memory;
    unsigned d = threadIdx.x, first = blockIdx.x * Memory::SHARE;
    unsigned rank[KEYS];
    Key x[KEYS];
    uint32_t value[PAIRS ? KEYS : 1] = {};

    load_share<KEYS, PAIRS>(x, value, a, first, n, c);
#pragma unroll 1
    for (unsigned pass = 0; pass < PASSES(sizeof(Key)); pass++) {
        bool last = pass + 1 == PASSES(sizeof(Key));
        uint64_t(*counts)[WAVE_WORDS] = control->wave[pass % 2];
        Key *out = pass % 2 ? a.out : a.spare;
        uint32_t *values_out = pass % 2 ? a.values_out : a.values_spare;
        rank_keys(rank, x, m->counters[threadIdx.x / LANES], pass);
        __syncthreads(); // no thread may add up counters before all warps have counted
        unsigned in_block = publish_counts(m, counts[blockIdx.x]);
        // All blocks are in this pass: clear for the next one what the pass before has left.
        if (d < WAVE_WORDS) control->wave[(pass + 1) % 2][blockIdx.x][d] = 0;
        if (d == 0) control->wave_arrived[(pass + 1) % PASSES(sizeof(Key))] = 0;
        __syncthreads(); // no warp may take places before they are there
        put_in_order<KEYS, PAIRS>(m, x, value, rank, anew(pass));
        add_up_blocks(m, counts);
        __syncthreads(); // no thread may read the sums before all counts are added
        unsigned total = d < DIGITS ? m->total[d] : 0;
        unsigned in_all = sum_before(total, m->sums);
        if (d < DIGITS) m->to[d] = in_all + m->before[d] - in_block;
        // No key may be stored before its place is there, and before the block's are in order.
        bool same = in_any_thread(d < DIGITS && total == gridDim.x * Memory::SHARE);
        if (last || !same) store_share<KEYS, PAIRS>(out, values_out, m, n, pass, last, c);
        if (last) return;
        wait_for_all_blocks(&control->wave_arrived[pass]); // no share may be taken before that
        if (same) // all keys have the same digit, so each stays where it is
            take_keys<KEYS, PAIRS>(x, value, m->keys, m->values);
        else
            take_share<KEYS, PAIRS>(x, value, out, values_out, first, n);
    }
}

#endif
