/*
 * verify_facts.c — what one pass over the input says: are its sums exact, do they stay in range?
 */
#include "verify.h"

#include "common/harness/host/host.h"
#include "common/harness/print/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FRACTION_BITS 52 /* of a double */
#define EXPONENT_BIAS 1023
#define EXPONENT_MASK 0x7FF

static bool is_filled(const void *array, enum element element, size_t index, unsigned char with)
{
    size_t size = element_size(element);
    const unsigned char *bytes = (const unsigned char *)array + index * size;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != with) return false;
    return true;
}

bool verify_is_poison(const void *array, enum element element, size_t index)
{
    return is_filled(array, element, index, VERIFY_POISON);
}

bool verify_is_unstored(const void *array, enum element element, size_t index)
{
    return element_size(element) >= sizeof(float) &&
           is_filled(array, element, index, VERIFY_UNSTORED);
}

void verify_text(const void *array, enum element element, size_t index, char *text, size_t size)
{
    element_text(element, array, index, text, size);
    if (verify_is_unstored(array, element, index)) snprintf(text, size, "never stored");
}

void verify_addends(const struct problem *p, size_t start, size_t count, long double *to)
{
    if (!p->reference) {
        element_widen(p->element, p->in, start, count, to);
        return;
    }
    for (size_t i = start; i < start + count; i++)
        to[i - start] = (long double)p->reference[i] - (i ? p->reference[i - 1] : 0);
}

#define ROUNDED 0x1p51
#define ROUNDER 0x1.8p52 /* x + ROUNDER - ROUNDER: the nearest whole number, up to 2^51 */

/* The largest power of two of which x, not 0, is a multiple. */
static double lowest_bit(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> FRACTION_BITS) & EXPONENT_MASK;
    uint64_t digits = bits & (((uint64_t)1 << FRACTION_BITS) - 1);
    if (exponent) digits |= (uint64_t)1 << FRACTION_BITS;
    int scale = (exponent ? exponent : 1) - EXPONENT_BIAS - FRACTION_BITS;
    return ldexp(1, scale + __builtin_ctzll(digits));
}

/* A running sum, with its least and greatest values. */
struct running {
    long double sum, low, high;
};

static void note_magnitudes(struct facts *facts, const double *x, size_t count)
{
    double sum = 0, least = facts->least;
    for (size_t i = 0; i < count; i++) {
        double magnitude = fabs(x[i]);
        sum += magnitude;
        if (magnitude < least && magnitude > 0) least = magnitude;
    }
    facts->magnitude += sum;
    facts->least = least;
}

static void note_quantum(struct facts *facts, const double *x, size_t count)
{
    double quantum = facts->quantum;
    for (size_t i = 0; i < count; i++) {
        double quanta = x[i] / quantum; /* exact: it is a power of two */
        bool whole = fabs(quanta) < ROUNDED && quanta + ROUNDER - ROUNDER == quanta;
        if (whole || x[i] == 0) continue;
        double bit = lowest_bit(x[i]);
        if (bit < quantum) quantum = bit;
    }
    facts->quantum = quantum;
}

static void note_sums(struct running *running, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        running->sum += x[i];
        if (running->sum < running->low) running->low = running->sum;
        if (running->sum > running->high) running->high = running->sum;
    }
}

/* The addends as doubles. For inexact ones, the differences of a reference, no quantum is known.
 * NaN and infinities become 0. */
static void load(const struct problem *p, size_t start, size_t count, struct facts *facts,
                 double *x)
{
    long double addends[VERIFY_CHUNK];
    if (!p->reference) {
        element_to_doubles(p->element, p->in, start, count, x);
    } else {
        verify_addends(p, start, count, addends);
        for (size_t i = 0; i < count; i++) {
            x[i] = (double)addends[i];
            if (x[i] != addends[i] && !isnan(addends[i])) facts->quantum = 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (isfinite(x[i])) continue;
        x[i] = 0;
        facts->finite = false;
        facts->poison |= verify_is_poison(p->in, p->element, start + i);
    }
}

static size_t count_minus_zeros(const struct problem *p)
{
    long double x;
    for (size_t i = 0; i < p->n; i++) {
        element_widen(p->element, p->in, i, 1, &x);
        if (x != 0 || !signbit(x)) return i;
    }
    return p->n;
}

/* What one chunk says. The chunks are looked at in any order, and added up in theirs. */
struct chunk_facts {
    struct facts facts;
    struct running running; /* from 0 on */
};

#define CHUNKS 2048 /* at a time */

struct look {
    const struct problem *problem;
    size_t start;   /* the first element of chunk 0 */
    double quantum; /* of all elements before */
    struct chunk_facts chunks[CHUNKS];
};

static void look_at_chunk(void *context, size_t k)
{
    struct look *look = context;
    const struct problem *p = look->problem;
    size_t start = look->start + k * VERIFY_CHUNK, left = p->n - start;
    size_t count = left < VERIFY_CHUNK ? left : VERIFY_CHUNK;
    struct facts facts = {.finite = true, .least = INFINITY, .quantum = look->quantum};
    struct running running = {0};
    double x[VERIFY_CHUNK];
    load(p, start, count, &facts, x);
    note_magnitudes(&facts, x, count);
    note_sums(&running, x, count);
    if (facts.quantum > 0) note_quantum(&facts, x, count);
    look->chunks[k] = (struct chunk_facts){facts, running};
}

static void add_chunk(struct facts *all, struct running *running, const struct chunk_facts *chunk)
{
    const struct facts *own = &chunk->facts;
    long double low = running->sum + chunk->running.low, high = running->sum + chunk->running.high;
    all->finite &= own->finite;
    all->poison |= own->poison;
    all->magnitude += own->magnitude;
    if (own->least < all->least) all->least = own->least;
    if (own->quantum < all->quantum) all->quantum = own->quantum;
    if (low < running->low) running->low = low;
    if (high > running->high) running->high = high;
    running->sum += chunk->running.sum;
}

/* The greatest absolute value of a running sum. */
static long double most(const struct running *r) { return r->high > -r->low ? r->high : -r->low; }

/* The running sums from the first element to the last, without the chunks' own sums. */
static struct running sums_in_order(const struct problem *problem)
{
    struct running running = {0};
    struct facts ignored = {0};
    double x[VERIFY_CHUNK];
    for (size_t start = 0; start < problem->n; start += VERIFY_CHUNK) {
        size_t left = problem->n - start, count = left < VERIFY_CHUNK ? left : VERIFY_CHUNK;
        load(problem, start, count, &ignored, x);
        note_sums(&running, x, count);
    }
    return running;
}

static struct facts facts_of_reals(const struct problem *problem)
{
    static struct look look;
    struct facts facts = {.finite = true, .least = INFINITY, .quantum = 1};
    struct running running = {0};
    long double chunks_most = 0;
    look.problem = problem;
    for (look.start = 0; look.start < problem->n; look.start += CHUNKS * VERIFY_CHUNK) {
        size_t chunks = (problem->n - look.start + VERIFY_CHUNK - 1) / VERIFY_CHUNK;
        if (chunks > CHUNKS) chunks = CHUNKS;
        look.quantum = facts.quantum;
        parallel_for(chunks, look_at_chunk, &look);
        for (size_t k = 0; k < chunks; k++) {
            const struct running *own = &look.chunks[k].running;
            add_chunk(&facts, &running, &look.chunks[k]);
            if (most(own) > chunks_most) chunks_most = most(own);
        }
        progress_at(look.start);
    }
    /* A long double holds multiples of the quantum up to 2^64 times it. So all sums above are exact
     * if none is beyond 2^63 times it. Otherwise they may be rounded, and depend on the chunks. */
    long double plain_max = 0x1p63L * facts.quantum;
    if (chunks_most > plain_max) running = sums_in_order(problem);
    facts.plain = facts.finite && most(&running) <= plain_max;
    /* A sum of neighbours is the difference of two running sums. */
    long double exact_max = element_exact_max(problem->element) * facts.quantum;
    facts.exact = facts.plain && running.high - running.low <= exact_max;
    facts.exact_in_any_order = facts.exact && facts.magnitude <= exact_max;
    facts.minus_zeros = count_minus_zeros(problem);
    return facts;
}

struct facts facts_of(const struct problem *problem)
{
    if (element_is_real(problem->element)) return facts_of_reals(problem);
    return (struct facts){.finite = true,
                          .exact = true,
                          .exact_in_any_order = true,
                          .plain = true,
                          .least = INFINITY};
}

int facts_check(const struct facts *facts, enum element element, struct fault *fault)
{
    if (!element_is_real(element) || facts->magnitude <= element_max(element)) return 0;
    return fail(
        fault, EXIT_USAGE,
        "the input's absolute values sum to %.3Lg, beyond the largest %s (%.3Lg), so it would "
        "depend on the order of additions what overflows; scale the input down.",
        facts->magnitude, element_name(element), element_max(element));
}
