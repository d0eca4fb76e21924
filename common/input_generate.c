/*
 * input_generate.c — random numbers whose sums can be checked exactly.
 */
#include "input.h"

#include "progress.h"

#include <stdlib.h>

/*
 * Integers: every contiguous sum stays below 2^24, so a float holds each one exactly and additions
 * may come in any order. The prefix sums are a random walk kept within ±WALK_BOUND: a step that
 * would leave the band is taken in the other direction. A contiguous sum is the difference of two
 * prefix sums, so it is at most 2 * WALK_BOUND = 2^23 in magnitude.
 */
#define WALK_BOUND (1 << 22)

/* Steps are ±1 … ±AMPLITUDE, never 0: a number that is left out or added twice always shows. */
#define AMPLITUDE       500
#define AMPLITUDE_SMALL 100 /* fits into 8 bits */

#define REAL_BITS 24 /* random real numbers are multiples of 2^-23 in [-1, 1): exact in float */

/* Element i of the random sequence of a seed: SplitMix64 (Steele, Lea, Flood 2014). Each element
 * can be had without the ones before it, and depends on nothing but integer arithmetic. */
static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0xD1342543DE82EF95u + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void generate_integers(struct input *input, uint64_t seed)
{
    uint64_t amplitude = input->element == ELEMENT_I8 ? AMPLITUDE_SMALL : AMPLITUDE;
    int64_t walk = 0;
    for (size_t i = 0; i < input->n; i++) {
        uint64_t bits = random_bits(seed, i);
        int64_t step = 1 + (int64_t)(((bits >> 32) * amplitude) >> 32);
        if (bits & 1) step = -step;
        if (walk + step > WALK_BOUND || walk + step < -WALK_BOUND) step = -step;
        walk += step;
        element_store_integer(input->element, input->data, i, step);
        if (i % (1 << 20) == 0) progress_at(i);
    }
}

static void generate_reals(struct input *input, uint64_t seed)
{
    for (size_t i = 0; i < input->n; i++) {
        int64_t integer = (int64_t)(random_bits(seed, i) >> (64 - REAL_BITS));
        integer -= (int64_t)1 << (REAL_BITS - 1);
        element_store_real(input->element, input->data, i, (double)integer * 0x1p-23);
        if (i % (1 << 20) == 0) progress_at(i);
    }
}

int input_generate(struct input *input, enum element element, size_t n, bool real, uint64_t seed,
                   struct fault *fault)
{
    *input = (struct input){.element = element, .n = n, .data = calloc(n, element_size(element))};
    if (!input->data)
        return fail(fault, EXIT_USAGE, "%zu %s do not fit into host memory.", n,
                    element_plural(element));
    progress_begin("random numbers", n);
    if (real && element_is_real(element))
        generate_reals(input, seed);
    else
        generate_integers(input, seed);
    progress_end();
    return 0;
}
