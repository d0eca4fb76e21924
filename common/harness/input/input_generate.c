/*
 * input_generate.c — random numbers whose sums can be checked exactly.
 */
#include "input.h"

#include "common/harness/host/host.h"
#include "common/harness/print/print.h"

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

/* The numbers that are made: those of a part of the sequence, from part.first on. */
struct numbers {
    struct input *input;
    struct input_part part;
    uint64_t seed;
};

/* Makes numbers begin … end-1 of the part. */
typedef void make_fn(const struct numbers *, size_t begin, size_t end);

#define CHUNK ((size_t)1 << 14) /* numbers that one thread makes at a time */

/* ---- integers -------------------------------------------------------------------------------- */

static uint64_t amplitude_of(const struct numbers *n)
{
    return n->input->element == ELEMENT_I8 ? AMPLITUDE_SMALL : AMPLITUDE;
}

/* Step i of the walk, unless it would leave the band. */
static int64_t free_step(uint64_t seed, uint64_t i, uint64_t amplitude)
{
    uint64_t bits = random_bits(seed, i);
    int64_t step = 1 + (int64_t)(((bits >> 32) * amplitude) >> 32);
    return bits & 1 ? -step : step;
}

/*
 * A step depends on those before it, through their sum: where it would leave the band. That happens
 * near the edges of the band only, so it seldom happens in a chunk. Therefore all chunks are made
 * at the same time, as if there were no band, and each one's least and greatest sums are noted.
 * Then the walk goes from chunk to chunk, and makes those again in which it would leave the band.
 */
#define WALK_CHUNKS 2048 /* at a time */

struct walk {
    struct numbers is;
    bool is_kept;     /* otherwise only the sum is of interest */
    size_t at, count; /* these steps of the part */
    int64_t sum;      /* of all steps before */
    struct {
        int64_t sum, low, high; /* of its own steps, as if there were no band */
    } chunks[WALK_CHUNKS];
};

static size_t end_of_chunk(const struct walk *w, size_t k)
{
    return (k + 1) * CHUNK < w->count ? (k + 1) * CHUNK : w->count;
}

static void walk_freely(void *context, size_t k)
{
    struct walk *w = context;
    uint64_t amplitude = amplitude_of(&w->is), seed = w->is.seed;
    int64_t sum = 0, low = 0, high = 0;
    for (size_t i = w->at + k * CHUNK, end = w->at + end_of_chunk(w, k); i < end; i++) {
        int64_t step = free_step(seed, w->is.part.first + i, amplitude);
        sum += step;
        if (sum < low) low = sum;
        if (sum > high) high = sum;
        if (w->is_kept) element_store_integer(w->is.input->element, w->is.input->data, i, step);
    }
    w->chunks[k].sum = sum;
    w->chunks[k].low = low;
    w->chunks[k].high = high;
}

static void walk_in_band(struct walk *w, size_t k)
{
    uint64_t amplitude = amplitude_of(&w->is);
    for (size_t i = w->at + k * CHUNK, end = w->at + end_of_chunk(w, k); i < end; i++) {
        int64_t step = free_step(w->is.seed, w->is.part.first + i, amplitude);
        if (w->sum + step > WALK_BOUND || w->sum + step < -WALK_BOUND) step = -step;
        w->sum += step;
        if (w->is_kept) element_store_integer(w->is.input->element, w->is.input->data, i, step);
    }
}

/* Walks the steps of the part, from the walk's sum on. */
static void walk_part(struct walk *w)
{
    for (w->at = 0; w->at < w->is.part.count; w->at += w->count) {
        size_t left = w->is.part.count - w->at, most = WALK_CHUNKS * CHUNK;
        w->count = left < most ? left : most;
        size_t chunks = (w->count + CHUNK - 1) / CHUNK;
        parallel_for(chunks, walk_freely, w);
        for (size_t k = 0; k < chunks; k++) {
            bool leaves =
                w->sum + w->chunks[k].low < -WALK_BOUND || w->sum + w->chunks[k].high > WALK_BOUND;
            if (leaves)
                walk_in_band(w, k);
            else
                w->sum += w->chunks[k].sum;
        }
        if (w->is_kept) progress_at(w->at + w->count);
    }
}

static void generate_integers(const struct numbers *n)
{
    struct walk *w = allocated(malloc(sizeof *w));
    w->is = *n;
    w->sum = 0;
    w->is_kept = false;
    w->is.part = (struct input_part){0, n->part.first, n->part.whole};
    walk_part(w);
    w->is_kept = true;
    w->is.part = n->part;
    walk_part(w);
    free(w);
}

/* ---- numbers that do not depend on each other ------------------------------------------------ */

/* How many digits after the point real numbers have. */
static int real_bits(enum element element, size_t n)
{
    int bits = BITS_F32;
    if (element == ELEMENT_F64) return BITS_F64;
    for (size_t most = (size_t)1 << F32_BITS_LOST; most < n && bits > BITS_LEAST; most *= 2) bits--;
    return bits;
}

static void make_reals(const struct numbers *n, size_t begin, size_t end)
{
    int bits = real_bits(n->input->element, n->part.whole);
    for (size_t i = begin; i < end; i++) {
        uint64_t random = random_bits(n->seed, n->part.first + i);
        uint64_t digits = (random >> (64 - bits)) | (uint64_t)1 << (bits - 1);
        double x = ldexp((double)digits, -bits);
        element_store_real(n->input->element, n->input->data, i, random & 1 ? -x : x);
    }
}

static void make_uniform(const struct numbers *n, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        uint64_t random = random_bits(n->seed, n->part.first + i);
        int64_t integer = (int64_t)(random >> (64 - UNIFORM_BITS));
        integer -= (int64_t)1 << (UNIFORM_BITS - 1);
        element_store_real(n->input->element, n->input->data, i, (double)integer * 0x1p-23);
    }
}

static void make_bits(const struct numbers *n, size_t begin, size_t end)
{
    size_t size = element_size(n->input->element);
    for (size_t i = begin; i < end; i++) {
        uint64_t random = random_bits(n->seed, n->part.first + i);
        memcpy((char *)n->input->data + i * size, &random, size);
    }
}

#define SHARED_CHUNKS 2048 /* between two reports of progress */

struct shared {
    const struct numbers *numbers;
    make_fn *make;
    size_t at; /* the first number of chunk 0 */
};

static void make_chunk(void *context, size_t k)
{
    const struct shared *s = context;
    size_t begin = s->at + k * CHUNK, end = begin + CHUNK, n = s->numbers->part.count;
    s->make(s->numbers, begin, end < n ? end : n);
}

static void make_all(const struct numbers *n, make_fn *make)
{
    struct shared s = {.numbers = n, .make = make};
    for (size_t count = n->part.count; s.at < count; s.at += SHARED_CHUNKS * CHUNK) {
        size_t chunks = (count - s.at + CHUNK - 1) / CHUNK;
        parallel_for(chunks < SHARED_CHUNKS ? chunks : SHARED_CHUNKS, make_chunk, &s);
        progress_at(s.at);
    }
}

/* ---- all kinds ------------------------------------------------------------------------------- */

/* `make` is NULL for integers. */
static int generate(struct input *input, enum element element, struct input_part part,
                    uint64_t seed, make_fn *make, struct fault *fault)
{
    size_t n = part.count;
    struct numbers numbers = {input, part, seed};
    *input = (struct input){.element = element, .n = n};
    input->data = calloc(n ? n : 1, element_size(element));
    if (!input->data)
        return fail(fault, EXIT_USAGE, "%zu %s do not fit into host memory.", n,
                    element_plural(element));
    progress_begin("random numbers", n);
    if (make)
        make_all(&numbers, make);
    else
        generate_integers(&numbers);
    progress_end();
    return 0;
}

static struct input_part all_of(size_t n) { return (struct input_part){0, n, n}; }

int input_generate_part(struct input *input, enum element element, struct input_part part,
                        bool real, uint64_t seed, struct fault *fault)
{
    bool reals = real && element_is_real(element);
    return generate(input, element, part, seed, reals ? make_reals : NULL, fault);
}

int input_generate(struct input *input, enum element element, size_t n, bool real, uint64_t seed,
                   struct fault *fault)
{
    return input_generate_part(input, element, all_of(n), real, seed, fault);
}

int input_generate_bits_part(struct input *input, enum element element, struct input_part part,
                             uint64_t seed, struct fault *fault)
{
    return generate(input, element, part, seed, make_bits, fault);
}

int input_generate_bits(struct input *input, enum element element, size_t n, uint64_t seed,
                        struct fault *fault)
{
    return input_generate_bits_part(input, element, all_of(n), seed, fault);
}

int input_generate_uniform(struct input *input, enum element element, size_t n, uint64_t seed,
                           struct fault *fault)
{
    return generate(input, element, all_of(n), seed, make_uniform, fault);
}
