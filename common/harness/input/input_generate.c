/*
 * input_generate.c — random numbers whose sums can be checked exactly.
 */
#include "input.h"

#include "common/harness/report/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * Real numbers: of either sign, 1/2 <= |x| < 1, so that each weighs as much as any other. They are
 * multiples of a quantum q, which makes sums up to 2^24 q exact in float. q is 2^-24, so that every
 * addition may round, or larger for more elements. The verifier's bound grows with the number of
 * sums that round, and the larger quantum keeps the bound below the size of one element. The sums
 * of all before an element are larger than 2^24 q at any size, and round. (Those of doubles do so
 * from 2^53 q on.)
 */
#define BITS_F32      24
#define BITS_F64      49
#define BITS_LEAST    8
#define F32_BITS_LOST 18 /* of more than 2^18 elements: a bit for each doubling */

/* The real numbers of the experiments that measure rounding: multiples of 2^-23 in [-1, 1), which
 * floats hold exactly. */
#define UNIFORM_BITS 24

/* Element i of the random sequence of a seed: SplitMix64 (Steele, Lea, Flood 2014). It is computed
 * without the elements before it, and by integer arithmetic alone. */
static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0xD1342543DE82EF95u + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Step i of the walk. It depends on the steps before it, through their sum. */
static int64_t walk_step(uint64_t seed, uint64_t i, uint64_t amplitude, int64_t walk)
{
    uint64_t bits = random_bits(seed, i);
    int64_t step = 1 + (int64_t)(((bits >> 32) * amplitude) >> 32);
    if (bits & 1) step = -step;
    return walk + step > WALK_BOUND || walk + step < -WALK_BOUND ? -step : step;
}

static void generate_integers(struct input *input, struct input_part part, uint64_t seed)
{
    uint64_t amplitude = input->element == ELEMENT_I8 ? AMPLITUDE_SMALL : AMPLITUDE;
    int64_t walk = 0;
    for (size_t i = 0; i < part.first; i++) walk += walk_step(seed, i, amplitude, walk);
    for (size_t i = 0; i < part.count; i++) {
        int64_t step = walk_step(seed, part.first + i, amplitude, walk);
        walk += step;
        element_store_integer(input->element, input->data, i, step);
        if (i % (1 << 20) == 0) progress_at(i);
    }
}

/* How many digits after the point real numbers have. */
static int real_bits(enum element element, size_t n)
{
    int bits = BITS_F32;
    if (element == ELEMENT_F64) return BITS_F64;
    for (size_t most = (size_t)1 << F32_BITS_LOST; most < n && bits > BITS_LEAST; most *= 2) bits--;
    return bits;
}

static void generate_reals(struct input *input, struct input_part part, uint64_t seed)
{
    int bits = real_bits(input->element, part.whole);
    for (size_t i = 0; i < part.count; i++) {
        uint64_t random = random_bits(seed, part.first + i);
        uint64_t digits = (random >> (64 - bits)) | (uint64_t)1 << (bits - 1);
        double x = ldexp((double)digits, -bits);
        element_store_real(input->element, input->data, i, random & 1 ? -x : x);
        if (i % (1 << 20) == 0) progress_at(i);
    }
}

static void generate_uniform(struct input *input, struct input_part part, uint64_t seed)
{
    for (size_t i = 0; i < part.count; i++) {
        int64_t integer = (int64_t)(random_bits(seed, part.first + i) >> (64 - UNIFORM_BITS));
        integer -= (int64_t)1 << (UNIFORM_BITS - 1);
        element_store_real(input->element, input->data, i, (double)integer * 0x1p-23);
    }
}

static void generate_bits(struct input *input, struct input_part part, uint64_t seed)
{
    size_t size = element_size(input->element);
    for (size_t i = 0; i < part.count; i++) {
        uint64_t random = random_bits(seed, part.first + i);
        memcpy((char *)input->data + i * size, &random, size);
        if (i % (1 << 20) == 0) progress_at(i);
    }
}

typedef void generate_fn(struct input *, struct input_part, uint64_t seed);

static int generate(struct input *input, enum element element, struct input_part part,
                    uint64_t seed, generate_fn *numbers, struct fault *fault)
{
    size_t n = part.count;
    *input = (struct input){.element = element, .n = n};
    input->data = calloc(n ? n : 1, element_size(element));
    if (!input->data)
        return fail(fault, EXIT_USAGE, "%zu %s do not fit into host memory.", n,
                    element_plural(element));
    progress_begin("random numbers", n);
    numbers(input, part, seed);
    progress_end();
    return 0;
}

static struct input_part all_of(size_t n) { return (struct input_part){0, n, n}; }

int input_generate_part(struct input *input, enum element element, struct input_part part,
                        bool real, uint64_t seed, struct fault *fault)
{
    bool reals = real && element_is_real(element);
    return generate(input, element, part, seed, reals ? generate_reals : generate_integers, fault);
}

int input_generate(struct input *input, enum element element, size_t n, bool real, uint64_t seed,
                   struct fault *fault)
{
    return input_generate_part(input, element, all_of(n), real, seed, fault);
}

int input_generate_bits_part(struct input *input, enum element element, struct input_part part,
                             uint64_t seed, struct fault *fault)
{
    return generate(input, element, part, seed, generate_bits, fault);
}

int input_generate_bits(struct input *input, enum element element, size_t n, uint64_t seed,
                        struct fault *fault)
{
    return input_generate_bits_part(input, element, all_of(n), seed, fault);
}

int input_generate_uniform(struct input *input, enum element element, size_t n, uint64_t seed,
                           struct fault *fault)
{
    return generate(input, element, all_of(n), seed, generate_uniform, fault);
}
