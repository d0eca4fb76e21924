/*
 * states.cuh — what blocks tell each other through device memory: tickets, and the tiles' sums.
 *
 * The workspace is cleared once, when it is made, and by no scan: whatever a scan leaves in it
 * carries the number of that scan, its epoch, and means nothing to the next one.
 */
#ifndef STEP12_STATES_CUH
#define STEP12_STATES_CUH

#include "shape.h"

#include <stddef.h>
#include <stdint.h>

/* ---- types: elements, sums and carries ------------------------------------------------------- */

/*
 * What is added: elements, sums and carries.
 *
 * An element is float, double, int32_t, uint64_t, int16_t or int8_t. Its sums are of the same type,
 * except that 8 and 16 bits are summed in 32. What lies before a whole tile is carried in double
 * for sums in float, where it costs nothing (one number a tile) and keeps the rounding error of a
 * long scan as small as that of a short one; otherwise in the type of the sums.
 */

template <typename Sum> struct carry_of {
    typedef Sum type;
};
template <> struct carry_of<float> {
    typedef double type;
};

/* N neighbours that are moved by one memory access: 16 bytes at most. */
template <typename T, int N> struct __align__(sizeof(T) * N) vector { T e[N]; };

/* What a lane takes at a time: a vector of elements whose sums are Sums, and a vector of such
 * sums. */
template <typename T, typename Sum> using vector_of = vector<T, LANE_TAKES(sizeof(Sum))>;

/* ---- states ---------------------------------------------------------------------------------- */

struct workspace {
    unsigned long long ticket; /* upper half: the last scan's epoch. Lower half: the next ticket */
    uint64_t rest_of_line[15]; /* so that states begin in another cache line */
};

/* Epochs are even, so that step 16 has a bit beside the epoch for a head. Steps 12, 13 and 16 draw
 * their tickets from the same word. So whichever of them used the workspace before, no state that
 * is there has the epoch of the next scan. After 2^31 - 1 scans all epochs but 0 have been used,
 * and the caller has to clear the workspace. */
enum { EPOCH_STEP = 2 };

/* A sum of 32 bits takes one word, a sum of 64 bits two. Each word holds the epoch in its upper
 * half and 32 bits of the sum in its lower half, and is read and written by one access. So a thread
 * that finds the epoch in a word also finds the value, and needs no fence. */
#define WORDS(Sum) ((int)(sizeof(Sum) / sizeof(unsigned)))

template <typename Sum> struct state {
    uint64_t word[WORDS(Sum)];
};

template <typename Sum> static __host__ __device__ state<Sum> *states_of(struct workspace *w)
{
    return (state<Sum> *)(w + 1);
}

/* A ticket: a tile to scan, and the epoch of this scan. Blocks draw tickets in the order in which
 * they start. So when a block holds tile t, all tiles before it belong to blocks that run. blockIdx
 * would not do: block 0 need not begin first, and not all blocks need fit on the GPU. */
struct ticket {
    unsigned tile, epoch;
};

/* What the atomic addition returns. It takes about as long as a load. A thread waits for it only
 * when it asks what it has drawn. */
static __device__ uint64_t begin_to_draw(struct workspace *w)
{
    return atomicAdd(&w->ticket, 1ULL);
}

static __device__ struct ticket ticket_of(uint64_t drawn)
{
    return {(unsigned)drawn, (unsigned)(drawn >> 32) + EPOCH_STEP};
}

static __device__ struct ticket draw_ticket(struct workspace *w)
{
    return ticket_of(begin_to_draw(w));
}

/* `tickets` tickets are drawn in one scan. The block that draws the last one prepares the next
 * scan. */
static __device__ void end_if_last(struct workspace *w, struct ticket t, unsigned tickets)
{
    if (t.tile == tickets - 1) atomicExch(&w->ticket, (unsigned long long)t.epoch << 32);
}

/* Relaxed, because this word alone has to be seen. At gpu scope, because threads of all blocks see
 * it. */
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

/* Reads two words with one access. They may have been written at different times: each has its
 * epoch. */
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

/* Does every word of the state have this epoch? */
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
