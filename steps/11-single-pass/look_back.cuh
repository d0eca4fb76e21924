/*
 * look_back.cuh — what tiles tell each other, and how a tile finds out what lies before it.
 */
#ifndef STEP11_LOOK_BACK_CUH
#define STEP11_LOOK_BACK_CUH

#include <stdint.h>
#include "scan.h"

#define ALL_LANES 0xffffffff

/* experiments/look-back.cu writes down here how many states a tile has added up. */
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

/* What a tile has told: nothing, the sum of its own elements, or the sum of all up to its end. */
enum status { EMPTY, AGGREGATE, PREFIX };

/*
 * Status and sum are halves of one 64-bit word, written by one store and read by one load: who sees
 * the status sees its sum. In two words the writer would need a fence between them and the reader
 * another. Relaxed is enough, for no other memory is read because of the state; what it must be is
 * an access to what all SMs share (not to an L1 cache), which the compiler may not leave out.
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
 * The sum of all tiles before `tile`. A warp looks at 32 states at a time, lane 0 at the nearest:
 * it adds aggregates until it comes to a prefix, which holds all the rest.
 */
static __device__ float look_back(const uint64_t *g_states, int tile)
{
    int lane = threadIdx.x % WARP;
    float before = 0;

    for (int nearest = tile - 1;;) {
        // Before the first tile lies nothing: a prefix of 0.
        uint64_t state = lane <= nearest ? look(&g_states[nearest - lane]) : (uint64_t)PREFIX << 32;
        unsigned prefixes = __ballot_sync(ALL_LANES, state >> 32 == PREFIX);
        unsigned empty = __ballot_sync(ALL_LANES, state >> 32 == EMPTY);
        unsigned wanted = prefixes ^ (prefixes - 1); // up to the nearest prefix; all, without one

        // Look again until all that are wanted have told something. Their blocks have started.
        if (empty & wanted) continue;

        before += warp_sum(wanted >> lane & 1 ? __uint_as_float((unsigned)state) : 0);
        if (prefixes) {
            LOOKED_BACK(tile, tile - nearest + __ffs(prefixes) - 1);
            return before;
        }
        nearest -= WARP;
    }
}

#endif
