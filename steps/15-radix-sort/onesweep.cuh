/*
 * onesweep.cuh — one pass in one kernel: keys are read once and written once, sorted by a digit.
 *
 * What it is: a block takes a tile by a ticket, counts its digits and publishes the counts. It
 * finds the place of each key in the tile. By looking back it finds how many keys of each digit the
 * tiles before have, and stores the tile (Adinets and Merrill, "Onesweep", 2022).
 * Same as step 11 except: a tile has 256 sums in place of one. A thread of its own looks back for
 * each of them.
 * What it fixes: a pass of three kernels (count, scan, scatter) reads the keys twice.
 * What is still bad: runs of keys with the same digit are short, and at each end of a run a store
 * fills only a part of a sector. Such stores keep the L2 cache busy.
 */
#ifndef STEP15_ONESWEEP_CUH
#define STEP15_ONESWEEP_CUH

#include "parts/states.cuh"
#include "parts/rank.cuh"

/* The shared memory of a block. */
template <bool HALF, bool PAIRS, typename Word, typename Key> struct pass_memory {
    static const int KEYS = ONESWEEP_KEYS(sizeof(Key), PAIRS, HALF);
    static const int TILE = ONESWEEP_THREADS * KEYS;
    Key keys[TILE];                    /* by place in the tile */
    uint32_t values[PAIRS ? TILE : 1]; /* the same */
    alignas(16) unsigned counters[ONESWEEP_THREADS / LANES][DIGITS];
    Word to[DIGITS]; /* place in `out`, less that in the tile, for each digit */
    unsigned sums[DIGITS / LANES];
    unsigned tile;
};

/* Loads the keys of this thread from the tile at `in`, which has `left` keys, or is full. What lies
 * behind them has all bits set: it comes last in each pass. */
template <int KEYS, typename Key>
static __device__ void load_keys(Key (&x)[KEYS], const Key *in, unsigned left, bool full,
                                 bool first, codec<Key> c)
{
    in += index_of<KEYS>(0);
    if (full) {
#pragma unroll
        for (int k = 0; k < KEYS; k++) x[k] = in[k * LANES];
        if (first) {
#pragma unroll
            for (int k = 0; k < KEYS; k++) x[k] = encode(x[k], c);
        }
    } else {
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            x[k] = ~(Key)0;
            if (index_of<KEYS>(k) < left) x[k] = first ? encode(in[k * LANES], c) : in[k * LANES];
        }
    }
}

/* Loads their values: those at `in`, or, if it is NULL, the indices of the keys. */
template <int KEYS>
static __device__ void load_values(uint32_t (&value)[KEYS], const uint32_t *in, size_t begin,
                                   unsigned left, bool full)
{
    unsigned at = index_of<KEYS>(0);
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        value[k] = (uint32_t)begin + at + k * LANES;
        if (in != NULL && (full || index_of<KEYS>(k) < left)) value[k] = in[begin + at + k * LANES];
    }
}

/* Stores the tile: neighbouring threads have neighbouring places, mostly of the same digit. Because
 * of the test before each row, nvcc does not load all keys of a thread before it stores the first
 * one. So neighbouring warps store neighbouring rows at about the same time, which is faster. */
template <bool LAST, bool HALF, bool PAIRS, typename Word, typename Key>
static __device__ void store_tile(Key *out, uint32_t *values_out,
                                  const pass_memory<HALF, PAIRS, Word, Key> *m, unsigned pass,
                                  unsigned left, codec<Key> c)
{
#pragma unroll
    for (int k = 0; k < m->KEYS; k++) {
        unsigned i = threadIdx.x + k * ONESWEEP_THREADS;
        if (i >= left) return;
        Key x = m->keys[i];
        Word to = m->to[digit_of(x, pass)] + i;
        out[to] = LAST ? decode(x, c) : x;
        if (PAIRS) values_out[to] = m->values[i];
    }
}

/* A pass over n keys with a block for each tile. HALF: with tiles for GPUs that have less shared
 * memory. */
template <bool HALF, bool PAIRS, typename Word, typename Key>
static __global__ void __launch_bounds__(ONESWEEP_THREADS, ONESWEEP_BLOCKS)
    sort_by_digit(struct arrays<Key> a, size_t n, codec<Key> c, unsigned pass,
                  struct control *control, Word *states)
{
    typedef pass_memory<HALF, PAIRS, Word, Key> Memory;
    const unsigned KEYS = Memory::KEYS, TILE = Memory::TILE, WARPS = ONESWEEP_THREADS / LANES;
    static_assert(ONESWEEP_THREADS >= DIGITS && ONESWEEP_THREADS % LANES == 0, "a thread a digit");
    extern __shared__ __align__(16) unsigned char memory[];
    Memory *m = (Memory *)memory;
    unsigned *row = m->counters[threadIdx.x / LANES], d = threadIdx.x;

    clear_row(row);
    wait_for_kernel_before();
    let_next_kernel_begin();
    // Draw a ticket: this block's tile. All tiles before it are with blocks that run.
    if (threadIdx.x == 0) m->tile = atomicAdd(&control->tickets[pass], 1);
    struct pass_plan plan = control->plan[pass];
    if (!plan.active) return;
    bool to_out = writes_out(plan, control->last_is_odd);
    __syncthreads(); // no thread may read the ticket before it is drawn
    unsigned tile = m->tile;
    size_t begin = (size_t)tile * TILE;
    bool full = n - begin >= TILE;
    unsigned left = full ? TILE : (unsigned)(n - begin); // keys of this tile

    // Count the digits of each warp.
    Key x[KEYS];
    load_keys(x, (plan.first ? a.in : to_out ? a.spare : a.out) + begin, left, full, plan.first, c);
#pragma unroll
    for (int k = 0; k < KEYS; k++) atomicAdd(&row[digit_of(x[k], pass)], 1);
    // The values arrive while the places are found.
    uint32_t value[PAIRS ? KEYS : 1];
    const uint32_t *values_in = to_out ? a.values_spare : a.values_out;
    if (PAIRS) load_values(value, plan.first ? a.values_in : values_in, begin, left, full);
    __syncthreads(); // no thread may add up counters before all warps have counted

    // A thread for each digit publishes the tile's count, as early as it can.
    unsigned count = 0;
    Word *state = states + (size_t)tile * DIGITS + d;
    Word start = 0;
    if (d < DIGITS) {
        count = count_in_block<WARPS>(m->counters);
        if (tile == 0)
            start = (Word)control->starts[pass][d];
        else
            write_state(state, state_of<Word>(STATE_COUNT, count));
    }
    unsigned place = sum_before(count, m->sums);
    if (d < DIGITS) {
        if (tile == 0) write_state(state, state_of<Word>(prefix_mark(plan.odd), start + count));
        counters_to_places<WARPS>(m->counters, place);
    }
    __syncthreads(); // no warp may take places before they are there

    // Each key goes to its place in the tile. Its digit is computed anew, as there are no registers
    // to keep the digits of all keys.
    pass = anew(pass);
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        unsigned at = take_place(row, digit_of(x[k], pass));
        m->keys[at] = x[k];
        if (PAIRS) m->values[at] = value[PAIRS ? k : 0];
    }

    // How many keys of each digit go before this tile's.
    if (d < DIGITS) {
        if (tile > 0) {
            start = look_back<ONESWEEP_WINDOW>(states + d, tile, plan.odd);
            write_state(state, state_of<Word>(prefix_mark(plan.odd), start + count));
        }
        m->to[d] = start - place;
    }
    __syncthreads(); // no key may be stored before all are in their places and each `to` is there

    Key *out = to_out ? a.out : a.spare;
    uint32_t *values_out = to_out ? a.values_out : a.values_spare;
    if (plan.last)
        store_tile<true>(out, values_out, m, pass, left, c);
    else
        store_tile<false>(out, values_out, m, pass, left, c);
}

#endif
