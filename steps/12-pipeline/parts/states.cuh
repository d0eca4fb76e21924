/*
 * states.cuh — what blocks tell each other through device memory: tickets, and the tiles' sums.
 *
 * The workspace is cleared once, when it is made, and by no scan: whatever a scan leaves in it
 * carries the number of that scan, its epoch, and means nothing to the next one.
 */
#ifndef STEP12_STATES_CUH
#define STEP12_STATES_CUH

#include "types.cuh"

struct workspace {
    unsigned long long ticket; /* upper half: scans so far. Lower half: the next ticket */
    uint64_t rest_of_line[15]; /* states begin in a cache line of their own */
};

/* A sum of 32 bits takes one word, a sum of 64 bits two. Each word holds the epoch in its upper
 * half and 32 bits of the sum in its lower, and is read and written whole: who finds the epoch
 * finds the value, so no fence between the two is needed. */
#define WORDS(Sum) ((int)(sizeof(Sum) / sizeof(unsigned)))

template <typename Sum> struct state {
    uint64_t word[WORDS(Sum)];
};

template <typename Sum> static __host__ __device__ state<Sum> *states_of(struct workspace *w)
{
    return (state<Sum> *)(w + 1);
}

/* A ticket: a tile to work at, and the epoch of this scan. Tickets are drawn in the order in which
 * blocks come to it, so whoever holds tile t knows that all tiles before it are with blocks that
 * run. blockIdx would not do: nothing says that block 0 begins first, nor that all blocks fit. */
struct ticket {
    unsigned tile, epoch;
};

static __device__ struct ticket draw_ticket(struct workspace *w)
{
    uint64_t drawn = atomicAdd(&w->ticket, 1ULL);
    return {(unsigned)drawn, (unsigned)(drawn >> 32) + 1};
}

/* `tickets` are drawn in all. Who draws the last one makes all ready for the next scan. */
static __device__ void end_if_last(struct workspace *w, struct ticket t, unsigned tickets)
{
    if (t.tile == tickets - 1) atomicExch(&w->ticket, (unsigned long long)t.epoch << 32);
}

/* relaxed: this one word is all there is to be seen. gpu: by the threads of all blocks. */
static __device__ void write_word(uint64_t *word, uint64_t value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(word)),
                 "l"(value)
                 : "memory");
}

static __device__ uint64_t read_word(const uint64_t *word)
{
    uint64_t value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
    return value;
}

template <typename Sum> static __device__ void write_state(state<Sum> *s, unsigned epoch, Sum value)
{
    unsigned part[WORDS(Sum)];
    memcpy(part, &value, sizeof(value));
#pragma unroll
    for (int i = 0; i < WORDS(Sum); i++) write_word(&s->word[i], (uint64_t)epoch << 32 | part[i]);
}

/* Two words with one access. They may be of different times: each has its epoch. */
static __device__ void read_words(uint64_t (&word)[2], const uint64_t *from)
{
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(word[0]), "=l"(word[1])
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
}

static __device__ void read_words(uint64_t (&word)[1], const uint64_t *from)
{
    word[0] = read_word(from);
}

template <typename Sum> static __device__ state<Sum> read_state(const state<Sum> *s)
{
    state<Sum> found;
    read_words(found.word, s->word);
    return found;
}

/* Is all of it of this scan? */
template <typename Sum> static __device__ bool is_of(const state<Sum> &s, unsigned epoch)
{
    bool all = true;
#pragma unroll
    for (int i = 0; i < WORDS(Sum); i++) all &= (unsigned)(s.word[i] >> 32) == epoch;
    return all;
}

template <typename Sum> static __device__ Sum value_of(const state<Sum> &s)
{
    unsigned part[WORDS(Sum)];
    Sum value;
#pragma unroll
    for (int i = 0; i < WORDS(Sum); i++) part[i] = (unsigned)s.word[i];
    memcpy(&value, part, sizeof(value));
    return value;
}

#endif
