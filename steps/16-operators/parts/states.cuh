/*
 * states.cuh — what tiles publish: the sum of a tile, and whether a sequence begins in it.
 *
 * As step 12's states: each word carries 32 bits of the sum and the epoch of this scan, so a thread
 * that finds the epoch also finds the value. Epochs are even; the lowest bit is the head: 1 if a
 * sequence begins in the tile. Then the sum is that of the elements from the last head on.
 */
#ifndef STEP16_STATES_CUH
#define STEP16_STATES_CUH

#include "shape.h"
#include "steps/12-pipeline/parts/states.cuh"

/* A sum, and whether a sequence begins in what was summed up. */
template <typename State> struct headed {
    State value;
    bool head;
};

/* 4, 8 or 16 bytes. */
template <typename State> struct __align__(sizeof(State) * 2) published
{
    uint64_t word[WORDS(State)];
};

template <typename State> static __device__ published<State> *published_of(struct workspace *w)
{
    return (published<State> *)(w + 1);
}

template <typename State>
static __device__ void publish(published<State> *to, unsigned epoch, headed<State> sum)
{
    unsigned part[WORDS(State)];
    memcpy(part, &sum.value, sizeof(State));
#pragma unroll
    for (int i = 0; i < WORDS(State); i++)
        write_word(&to->word[i], (uint64_t)(epoch | sum.head) << 32 | part[i]);
}

/* Loads the words of a state, two with one access. They may have been written at different times:
 * each has its epoch. */
template <int WORDS>
static __device__ void load_words(uint64_t (&word)[WORDS], const uint64_t *from)
{
    if (WORDS == 1) word[0] = read_word(from);
#pragma unroll
    for (int i = 0; i + 1 < WORDS; i += 2) {
        uint64_t pair[2];
        read_words(pair, from + i);
        word[i] = pair[0], word[i + 1] = pair[1];
    }
}

/* Has every word this epoch? */
template <typename State> static __device__ bool is_of(const published<State> &p, unsigned epoch)
{
    bool all = true;
#pragma unroll
    for (int i = 0; i < WORDS(State); i++) all &= (unsigned)(p.word[i] >> 33) == epoch >> 1;
    return all;
}

template <typename State> static __device__ headed<State> sum_in(const published<State> &p)
{
    unsigned part[WORDS(State)];
    headed<State> sum;
#pragma unroll
    for (int i = 0; i < WORDS(State); i++) part[i] = (unsigned)p.word[i];
    memcpy(&sum.value, part, sizeof(State));
    sum.head = p.word[0] >> 32 & 1;
    return sum;
}

#endif
