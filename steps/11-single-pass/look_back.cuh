/*
 * look_back.cuh — what tiles tell each other, and how a tile finds out what lies before it.
 */
#ifndef STEP11_LOOK_BACK_CUH
#define STEP11_LOOK_BACK_CUH

#include <stdint.h>
#include "scan.h"

#define ALL_LANES 0xffffffff

/* experiments/look-back.cu defines this macro, and records how many states a tile has added up. */
#ifndef LOOKED_BACK
#define LOOKED_BACK(tile, states)
#endif

/* The sum of x over all lanes, in every lane: the same additions in each. */
static __device__ float warp_sum(float x)
{
#pragma unroll
    for (int d = WARP / 2; d > 0; d /= 2) x += __shfl_xor_sync(ALL_LANES, x, d);
    return x;
}

/* What a tile has published: nothing, the sum of its own elements (its aggregate), or the sum of
 * all elements up to its end (its prefix). */
enum status { EMPTY, AGGREGATE, PREFIX };

/*
 * Status and sum are halves of one 64-bit word, written by one store and read by one load. So a
 * thread that sees the status sees its sum. With two words, the writer would need a fence between
 * them, and the reader another one. Relaxed order is enough, because no other memory is read on
 * account of the state. The access has to reach memory that all SMs share (not an L1 cache), and
 * the compiler must not remove it.
 */
static __device__ void publish(uint64_t *g_state, enum status status, float sum)
{
    uint64_t word = (uint64_t)status << 32 | __float_as_uint(sum);
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(g_state), "l"(word));
}

static __device__ uint64_t look(const uint64_t *g_state)
{
    uint64_t word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(g_state));
    return word;
}

/*
 * The sum of all tiles before `tile`. A warp looks at 32 states at a time, the nearest in lane 0.
 * It adds aggregates until it finds a prefix, which is the sum of all the rest.
 */
static __device__ float look_back(const uint64_t *g_states, int tile)
{
    int lane = threadIdx.x % WARP;
    float before = 0;

    // lab: look at 32 states at a time until one of them is a prefix
    for (int nearest = tile - 1;;) {
        // Tiles before the first one count as tiles with a prefix of 0.
        uint64_t state = lane <= nearest ? look(&g_states[nearest - lane]) : (uint64_t)PREFIX << 32;
        unsigned prefixes = __ballot_sync(ALL_LANES, state >> 32 == PREFIX);
        unsigned empty = __ballot_sync(ALL_LANES, state >> 32 == EMPTY);
        unsigned wanted = prefixes ^ (prefixes - 1); // up to the nearest prefix, if any

        // Load again until all of these tiles have published something. Their blocks have started.
        if (empty & wanted) continue;

        before += warp_sum(wanted >> lane & 1 ? __uint_as_float((unsigned)state) : 0);
        if (prefixes) {
            LOOKED_BACK(tile, tile - nearest + __ffs(prefixes) - 1);
            break;
        }
        nearest -= WARP;
    }
    // lab: end
    return before;
}

#endif
