/*
 * states.cuh — what the kernels of one sort tell each other through device memory: the digits'
 * counts, the plan of passes, tickets, and for each tile and digit a state. And what the blocks of
 * a cluster tell each other, through each other's shared memory.
 */
#ifndef STEP15_STATES_CUH
#define STEP15_STATES_CUH

#include "common/step/gpu.cuh"
#include "rank.cuh"
#include "steps/12-pipeline/parts/barrier.cuh"

#include <stdint.h>

/* values_in may be NULL: then the values are the indices. Without values all three are NULL. */
template <typename Key> struct arrays {
    Key *out, *spare;
    const Key *in;
    uint32_t *values_out, *values_spare;
    const uint32_t *values_in;
};

/* What a pass does. A pass whose digit is the same in all keys would only copy, and is left out. */
struct pass_plan {
    uint8_t active;
    uint8_t odd;         /* an odd number of active passes came before */
    uint8_t first, last; /* of the active ones: keys are encoded, decoded */
};

/* Where the keys of a pass are. The first active pass reads `in`, the last one writes `out`, and
 * in between they alternate between `out` and `spare`. */
static __device__ bool writes_out(struct pass_plan p, bool last_is_odd)
{
    return p.odd == last_is_odd;
}

/* At the beginning of the workspace. A new workspace is clear. The kernels of a sort leave `counts`
 * and `arrived` clear, and wave[0] and wave_arrived[0]. */
struct control {
    unsigned long long counts[PASSES_MOST][DIGITS]; /* keys that have the digit */
    unsigned long long starts[PASSES_MOST][DIGITS]; /* where the first of them goes */
    struct pass_plan plan[PASSES_MOST];
    unsigned last_is_odd;
    unsigned arrived; /* blocks of the histogram that have added their counts */
    unsigned tickets[PASSES_MOST];
    /* wave.cuh: counts of blocks, in even and in odd passes; blocks that have stored their keys. */
    uint64_t wave[2][WAVE_BLOCKS_MOST][WAVE_WORDS];
    unsigned wave_arrived[PASSES_MOST];
};

/*
 * A state says how many keys of a digit there are: in its tile (COUNT), or in all tiles up to it
 * (PREFIX). Its two upper bits say which. What one pass has left is a PREFIX in each state. So the
 * next pass writes another number for PREFIX, and takes the old one for an empty state. Nothing has
 * to be cleared between passes. The histogram's kernel clears the states for the first pass.
 *
 * Word is uint32_t for fewer than 2^30 keys, otherwise uint64_t. A state is one word, written and
 * read whole: a thread that finds the bits finds the number, and no fence between the two is
 * needed.
 */
enum { STATE_COUNT = 1 };
static __device__ unsigned prefix_mark(bool odd) { return odd ? 0 : 2; }
static __device__ unsigned empty_mark(bool odd) { return odd ? 2 : 0; }

template <typename Word> static __device__ unsigned mark_of(Word w)
{
    return (unsigned)(w >> (sizeof(Word) * 8 - 2));
}

template <typename Word> static __device__ Word number_of(Word w) { return w << 2 >> 2; }

template <typename Word> static __device__ Word state_of(unsigned mark, Word number)
{
    return (Word)mark << (sizeof(Word) * 8 - 2) | number;
}

/* relaxed: this one word is all there is to be seen. gpu: by the threads of all blocks. */
static __device__ void write_state(uint32_t *to, uint32_t word)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(word)
                 : "memory");
}

static __device__ void write_state(uint64_t *to, uint64_t word)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
                 "l"(word)
                 : "memory");
}

static __device__ uint32_t read_state(const uint32_t *from)
{
    uint32_t word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(word)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return word;
}

static __device__ uint64_t read_state(const uint64_t *from)
{
    uint64_t word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(word)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return word;
}

/* How many keys of a digit the tiles before `tile` have, which is not 0; with the start of the
 * digit, which tile 0 has put into its PREFIX. `states` are those of the digit, DIGITS apart. Asks
 * for several tiles at a time, since each answer takes long, and goes on at the first empty one. */
template <int WINDOW, typename Word>
static __device__ Word look_back(const Word *states, unsigned tile, bool odd)
{
    Word sum = 0;
    for (unsigned end = tile;;) { // tiles before `end` are still to be added
        Word found[WINDOW];
        bool more = true;
#pragma unroll
        for (unsigned i = 0; i < WINDOW; i++)
            if (i < end) found[i] = read_state(&states[(size_t)(end - 1 - i) * DIGITS]);
#pragma unroll
        for (unsigned i = 0; i < WINDOW; i++) {
            if (!more || end == 0 || mark_of(found[i]) == empty_mark(odd)) {
                more = false;
                continue;
            }
            sum += number_of(found[i]);
            if (mark_of(found[i]) == prefix_mark(odd)) return sum;
            end--;
        }
    }
}

/* ---- blocks of a cluster --------------------------------------------------------------------- */

/* Their barrier, and stores into each other's shared memory. Before Hopper there are no clusters,
 * and a block is alone. */
static __device__ unsigned cluster_rank()
{
    unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

static __device__ unsigned cluster_size()
{
    unsigned size = 1;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#else
    if (gridDim.x > 1) __trap();
#endif
    return size;
}

#if __CUDA_ARCH__ >= 900

/* A barrier of the cluster. Stores of a thread before it are visible to each thread of the cluster
 * behind it. */
static __device__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

/* Where `to`, an address of this block's shared memory, is in block number `rank`. */
static __device__ uint32_t address_in_block(const void *to, unsigned rank)
{
    uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(address)
        : "r"(shared_address(to)), "r"(rank));
    return address;
}

/* *to = value in block number `rank`, whose barrier `b` counts the bytes; `to` and `b` are
 * addresses of this block's shared memory. A thread that has waited there for all bytes also sees
 * them. Plain stores and a barrier of the cluster were slower when tried. */
static __device__ void send(uint32_t *to, unsigned rank, uint32_t value, barrier *b)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     address_in_block(to, rank)),
                 "r"(value), "r"(address_in_block(b, rank))
                 : "memory");
}

static __device__ void send(uint64_t *to, unsigned rank, uint64_t value, barrier *b)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];" ::"r"(
                     address_in_block(to, rank)),
                 "l"(value), "r"(address_in_block(b, rank))
                 : "memory");
}

/* Waits for the bytes that other blocks send to this block. */
static __device__ void wait_for_blocks(barrier *b, unsigned parity)
{
    unsigned done;
    do {
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(shared_address(b)), "r"(parity)
                     : "memory");
    } while (!done);
}

#endif

#endif
