/*
 * histogram.cuh — one reading of the keys before all passes: how often each digit occurs at each
 * place. The last block to finish makes the plan of the passes from it.
 *
 * Same as the counting of a usual radix sort except: one kernel counts for all passes. That is
 * right because a pass only changes the order of keys.
 */
#ifndef STEP15_HISTOGRAM_CUH
#define STEP15_HISTOGRAM_CUH

#include "parts/rank.cuh"
#include "parts/states.cuh"

template <typename Key> struct __align__(16) key_vector { Key key[16 / sizeof(Key)]; };

/* Each counter has COPIES copies, in neighbouring banks, for different lanes. With one copy, the 32
 * counters that a warp of random keys adds to have three or four in the same bank. */
template <int COPIES, typename Key>
static __device__ void count_key(unsigned *counters, Key key, codec<Key> c)
{
    Key x = encode(key, c);
    unsigned copy = threadIdx.x % COPIES;
#pragma unroll
    for (unsigned p = 0; p < PASSES(sizeof(Key)); p++)
        atomicAdd(&counters[(p * DIGITS + digit_of(x, p)) * COPIES + copy], 1);
}

/* A block's share: vectors, if `in` is aligned to them, and what is left key by key. */
template <int COPIES, typename Key>
static __device__ void count_keys(unsigned *counters, const Key *in, size_t n, codec<Key> c)
{
    const size_t V = 16 / sizeof(Key);
    size_t step = (size_t)gridDim.x * HISTOGRAM_THREADS;
    size_t i = (size_t)blockIdx.x * HISTOGRAM_THREADS + threadIdx.x;
    size_t vectors = (uintptr_t)in % 16 == 0 ? n / V : 0, done = vectors * V;
    const key_vector<Key> *from = (const key_vector<Key> *)in;
    size_t v = i;

    for (; v + (HISTOGRAM_VECTORS - 1) * step < vectors; v += HISTOGRAM_VECTORS * step) {
        key_vector<Key> x[HISTOGRAM_VECTORS];
#pragma unroll
        for (int k = 0; k < HISTOGRAM_VECTORS; k++) x[k] = from[v + k * step];
#pragma unroll
        for (int k = 0; k < HISTOGRAM_VECTORS; k++)
#pragma unroll
            for (int e = 0; e < V; e++) count_key<COPIES>(counters, x[k].key[e], c);
    }
    for (; v < vectors; v += step)
        for (int e = 0; e < V; e++) count_key<COPIES>(counters, from[v].key[e], c);
    for (size_t k = done + i; k < n; k += step) count_key<COPIES>(counters, in[k], c);
}

/* Adds up the copies and adds the sums to the counts of all blocks. Four copies are one load. Each
 * lane begins at another one, so that the eight lanes that load together use different banks. */
template <int COPIES>
static __device__ void add_to_counts(struct control *control, const unsigned *counters, int passes)
{
    const int V = COPIES / 4, LANES_AT_ONCE = 8;
    static_assert(COPIES % 4 == 0 && V <= LANES_AT_ONCE, "copies are loaded as uint4");
    const uint4 *copies = (const uint4 *)counters;

    for (int i = threadIdx.x; i < passes * DIGITS; i += HISTOGRAM_THREADS) {
        unsigned sum = 0;
        for (int k = 0; k < V; k++) {
            uint4 four = copies[i * V + (k + i * V / LANES_AT_ONCE) % V];
            sum += four.x + four.y + four.z + four.w;
        }
        if (sum > 0) atomicAdd(&control->counts[i / DIGITS][i % DIGITS], (unsigned long long)sum);
    }
}

/* One warp computes where the digits of one pass start, and clears the counts for the next sort.
 * Returns true in all lanes if the pass has something to do. */
static __device__ bool find_starts(struct control *control, int pass, size_t n)
{
    const int EACH = DIGITS / LANES;
    unsigned lane = threadIdx.x % LANES;
    unsigned long long count[EACH], sum = 0;
    bool all_the_same = false;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        count[k] = atomicExch(&control->counts[pass][lane * EACH + k], 0ULL);
        all_the_same |= count[k] == n;
        sum += count[k];
    }
    unsigned long long before = sum;
#pragma unroll
    for (int d = 1; d < LANES; d *= 2) {
        unsigned long long left = __shfl_up_sync(ALL_LANES, before, d);
        if (lane >= d) before += left;
    }
    before -= sum;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        control->starts[pass][lane * EACH + k] = before;
        before += count[k];
    }
    return !__any_sync(ALL_LANES, all_the_same);
}

/* Which passes there are. If no pass has anything to do, the first one copies. */
static __device__ void make_plan(struct control *control, bool *active, int passes)
{
    int first = 0, last = passes - 1, before = 0;
    while (first < passes && !active[first]) first++;
    if (first == passes) active[first = 0] = true;
    while (!active[last]) last--;
    for (int p = 0; p < passes; p++) {
        control->plan[p] = {active[p], (uint8_t)(before % 2), p == first, p == last};
        control->tickets[p] = 0;
        before += active[p];
    }
    control->last_is_odd = (before - 1) % 2;
    control->arrived = 0;
}

/* Counts the digits of n keys, clears `words` words of states, and makes the plan. */
template <int COPIES, typename Key>
static __global__ void __launch_bounds__(HISTOGRAM_THREADS)
    count_digits(const Key *in, size_t n, codec<Key> c, struct control *control, uint32_t *states,
                 size_t words)
{
    const int P = PASSES(sizeof(Key)), WARPS = HISTOGRAM_THREADS / LANES;
    static_assert(P <= WARPS, "a warp for each pass");
    extern __shared__ __align__(16) unsigned counters[];
    __shared__ bool is_last, active[PASSES_MOST];

    for (int i = threadIdx.x; i < P * DIGITS * COPIES; i += HISTOGRAM_THREADS) counters[i] = 0;
    __syncthreads(); // no thread may count before the counters are clear
    let_next_kernel_begin();
    size_t step = (size_t)gridDim.x * HISTOGRAM_THREADS;
    for (size_t i = (size_t)blockIdx.x * HISTOGRAM_THREADS + threadIdx.x; i < words; i += step)
        states[i] = 0;
    count_keys<COPIES>(counters, in, n, c);
    __syncthreads(); // no thread may add up counters before all have counted
    add_to_counts<COPIES>(control, counters, P);

    // The block that arrives last finds the counts of all blocks.
    __threadfence();
    __syncthreads(); // the block may not arrive before all its counts are added
    if (threadIdx.x == 0) is_last = atomicAdd(&control->arrived, 1) == gridDim.x - 1;
    __syncthreads(); // no thread may ask before the first one has arrived
    if (!is_last) return;
    __threadfence();
    int warp = threadIdx.x / LANES;
    if (warp < P) {
        bool a = find_starts(control, warp, n);
        if (threadIdx.x % LANES == 0) active[warp] = a;
    }
    __syncthreads(); // the plan may not be made before all passes are judged
    if (threadIdx.x == 0) make_plan(control, active, P);
}

#endif
