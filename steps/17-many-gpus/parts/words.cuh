/*
 * words.cuh — words that carry their own flag: 32 bits of a state, and the epoch.
 *
 * Step 12 stores its states in the same way. Here other GPUs store them, so the scope is the
 * system. A word is stored and loaded by one access, also over NVLink and PCIe. So a thread that
 * finds the epoch in a word also finds the value, and neither side needs a fence. NCCL's protocol
 * LL does the same.
 */
#ifndef STEP17_WORDS_CUH
#define STEP17_WORDS_CUH

#include <stdint.h>
#include <string.h>

static __device__ uint64_t clock_ns(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* A state of 4 bytes has one word, a state of 8 bytes has two. */
#define STATE_WORDS(State) ((int)(sizeof(State) / sizeof(uint32_t)))

static inline __device__ void store_words(uint64_t *to, const uint64_t (&word)[1])
{
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
                 "l"(word[0])
                 : "memory");
}

/* Two words with one access. Each of them has its epoch, so they may become visible one after the
 * other. */
static inline __device__ void store_words(uint64_t *to, const uint64_t (&word)[2])
{
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),
                 "l"(word[0]), "l"(word[1])
                 : "memory");
}

static inline __device__ void load_words(uint64_t (&word)[1], const uint64_t *from)
{
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];"
                 : "=l"(word[0])
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
}
static inline __device__ void load_words(uint64_t (&word)[2], const uint64_t *from)
{
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(word[0]), "=l"(word[1])
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
}

template <int W, typename State>
static __device__ void make_words(uint64_t (&word)[W], State x, uint32_t epoch)
{
    uint32_t part[W];
    memcpy(part, &x, sizeof part);
#pragma unroll
    for (int i = 0; i < W; i++) word[i] = (uint64_t)epoch << 32 | part[i];
}

/* Loads a state. Returns whether it is that of this epoch. */
template <typename State>
static __device__ bool load_state(State &x, const uint64_t *from, uint32_t epoch)
{
    const int W = STATE_WORDS(State);
    uint64_t word[W];
    uint32_t part[W];
    bool is = true;
    load_words(word, from);
#pragma unroll
    for (int i = 0; i < W; i++) {
        part[i] = (uint32_t)word[i];
        is &= (uint32_t)(word[i] >> 32) == epoch;
    }
    memcpy(&x, part, sizeof x);
    return is;
}

#endif
