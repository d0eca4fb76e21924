/* verify_facts.c — what one pass over the input says: are its sums exact, do they stay in range? */
#include "common/harness/print/print.h"
#include "verify.h"

#include <math.h>
#include <stdarg.h>
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
    verify_addends(p, start, count, addends);
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)addends[i];
        if (x[i] != addends[i] && !isnan(addends[i])) facts->quantum = 0;
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

static struct facts facts_of_reals(const struct problem *problem)
{
    struct facts facts = {.finite = true, .least = INFINITY, .quantum = 1};
    struct running running = {0};
    double x[VERIFY_CHUNK];
    for (size_t start = 0, count; start < problem->n; start += count) {
        count = problem->n - start < VERIFY_CHUNK ? problem->n - start : VERIFY_CHUNK;
        load(problem, start, count, &facts, x);
        note_magnitudes(&facts, x, count);
        note_sums(&running, x, count);
        if (facts.quantum > 0) note_quantum(&facts, x, count);
        progress_at(start);
    }
    /* A long double holds multiples of the quantum up to 2^64 times it. So all sums above are exact
     * if none is beyond 2^63 times it. */
    long double most = fmaxl(running.high, -running.low);
    bool plain = facts.finite && most <= 0x1p63L * facts.quantum;
    /* A sum of neighbours is the difference of two running sums. */
    long double exact_max = element_exact_max(problem->element) * facts.quantum;
    facts.exact = plain && running.high - running.low <= exact_max;
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

/* ---- causes ---------------------------------------------------------------------------------- */

/* A guess at why a result is wrong. Each suspicion counts the mismatches that it
 * explains; one that explains them all is named, the plainest first. A name says no more than what
 * was compared: of a block's carry it speaks only where the error is that carry. */

static bool same(long double a, long double b, long double tolerance)
{
    return fabsl(a - b) <= tolerance;
}

/* As a double: how much of a small sum is left beside a large number must not depend on how wide a
 * long double is, which differs from machine to machine. */
static double offset_of(const struct evidence *e) { return (double)(e->got - e->want); }

static void note_first(struct suspicion *s, const struct evidence *e)
{
    s->first = e->index;
    s->offset = offset_of(e);
    s->tolerance = e->tolerance;
    s->base = e->base;
    s->block_before = e->block_before;
    s->addend_before = e->newest;
}

static void note_block(struct suspicion *s, const struct evidence *e, bool first)
{
    if (!first && e->block == s->block) return;
    s->block = e->block;
    s->blocks++;
    s->in_blocks += e->block_elements;
}

/* Do this element and the one before have each other's value? */
static bool are_swapped(const struct suspicion *s, const struct evidence *e)
{
    return e->index == s->last + 1 && same(e->got, s->want_before, e->tolerance) &&
           same(s->got_before, e->want, e->tolerance);
}

void suspect(struct suspicion *s, const struct evidence *e)
{
    bool first = s->mismatches == 0;
    if (first) note_first(s, e);
    note_block(s, e, first);
    s->never_written += e->poison;
    s->unstored += e->unstored;
    s->nan += isnan(e->got) && !e->poison;
    s->minus_zero += e->want == 0 && e->got == 0 && signbit(e->got);
    s->zero += e->got == 0;
    s->copied += e->got == e->addend;
    s->next += same(e->got, e->want_next, e->tolerance);
    s->previous += same(e->got, e->want_previous, e->tolerance);
    s->doubled += same(e->got, 2 * e->want, e->tolerance);
    s->block_alone += same(e->got, e->want - e->base, e->tolerance);
    s->constant += same(offset_of(e), s->offset, e->tolerance + s->tolerance);
    if (!first && are_swapped(s, e)) s->swapped += 2;
    s->last = e->index;
    s->got_before = e->got;
    s->want_before = e->want;
    s->mismatches++;
}

/* ---- names ----------------------------------------------------------------------------------- */

struct cause {
    const struct suspicion *is;
    const struct verifier *v;
    char *text;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool name(const struct cause *c, const char *format,
                                                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->text, c->size, format, arguments);
    va_end(arguments);
    return true;
}

static bool to_the_end(const struct cause *c) { return c->is->last == c->v->problem.n - 1; }

/* Of a part of an input, the last element may not be the last of all. */
static bool to_the_last(const struct cause *c) { return to_the_end(c) && !c->v->problem.ahead; }

/* An index, counted from the beginning of the input. */
static size_t whole(const struct cause *c, size_t index) { return c->v->problem.before + index; }

/* Is every element wrong from the first mismatch to the last? */
static bool gapless(const struct suspicion *s) { return s->last - s->first + 1 == s->mismatches; }

static bool is_constant(const struct suspicion *s)
{
    return s->mismatches > 1 && s->constant == s->mismatches && gapless(s);
}

/* The bytes of the poison are those of an integer -1. */
static bool name_unwritten(const struct cause *c)
{
    const struct suspicion *s = c->is;
    size_t all = s->mismatches;
    bool real = element_is_real(element_of_sum(c->v->problem.element));
    const char *or_minus_one = real ? "" : ", or written as -1";
    if (s->never_written != all) return false;
    if (all == c->v->verdict.checked)
        return name(c, "the output was never written%s", or_minus_one);
    if (all == 1)
        return name(c, "element %zu was never written%s", whole(c, s->first), or_minus_one);
    if (to_the_last(c) && gapless(s))
        return name(c, "the last %zu elements were never written%s", all, or_minus_one);
    return name(c, "%zu elements were never written%s, the first is %zu", all, or_minus_one,
                whole(c, s->first));
}

static bool name_value(const struct cause *c)
{
    const struct suspicion *s = c->is;
    size_t all = s->mismatches;
    if (s->unstored == all) return name(c, "memory was read before anything was stored there");
    if (s->nan == all)
        return name(c, "NaN for a number: often something that was read before it was written, or "
                       "beyond the end");
    if (s->minus_zero == all)
        return name(c, "-0 for 0: a sum is -0 only if all of its elements are -0");
    if (all == 1) /* of one or two elements, it means nothing: the first often is 0 */
        return to_the_last(c) && whole(c, s->last) > 1 && name(c, "only the last element is wrong");
    if (s->zero == all) return name(c, "zeros: every wrong element is 0");
    if (s->copied == all)
        return name(c, "the input was copied, not scanned: every wrong element is its own input");
    if (s->doubled == all) return name(c, "twice the sum, in every wrong element");
    return false;
}

static bool name_neighbour(const struct cause *c)
{
    const struct suspicion *s = c->is;
    size_t all = s->mismatches;
    bool inclusive = c->v->problem.inclusive;
    if (s->swapped == all && all > 1)
        return name(c, "neighbours were swapped, first %zu and %zu", whole(c, s->first),
                    whole(c, s->first) + 1);
    if (all == 1) return false;
    if (s->previous == all && inclusive)
        return name(c, "exclusive for inclusive: every wrong element lacks its own input");
    if (s->next == all && !inclusive && to_the_end(c))
        return name(c, "inclusive for exclusive: every wrong element has its own input in it");
    if (s->next == all)
        return name(c, "shifted by one: every wrong element is its right neighbour's");
    if (s->previous == all)
        return name(c, "shifted by one: every wrong element is its left neighbour's");
    return false;
}

/* A sum that was lost, or added twice, is compared with the sums of blocks. */
static bool name_block(const struct cause *c)
{
    const struct suspicion *s = c->is;
    size_t size = c->v->blocks.size;
    if (!size || s->first % size != 0 || s->first == 0) return false;
    size_t block = s->first / size;
    bool whole = s->mismatches == s->in_blocks; /* every element of these blocks is wrong */
    if (is_constant(s) && whole && s->blocks == 1) {
        if (same(s->offset, -s->base, s->tolerance))
            return name(c, "carry of block %zu dropped: elements %zu to %zu are off by %.9Lg",
                        block, s->first, s->last, s->offset);
        if (same(s->offset, s->base, s->tolerance))
            return name(c, "carry of block %zu added twice: elements %zu to %zu are off by %.9Lg",
                        block, s->first, s->last, s->offset);
    }
    if (s->block_alone == s->mismatches && whole && s->blocks > 1)
        return name(c, "carries dropped: %zu blocks begin at 0 again, the first is block %zu",
                    s->blocks, block);
    if (!is_constant(s) || !to_the_end(c)) return false;
    if (same(s->offset, -s->block_before, s->tolerance))
        return name(c, "sum of block %zu left out: everything from element %zu on is off by %.9Lg",
                    block - 1, s->first, s->offset);
    if (same(s->offset, s->block_before, s->tolerance))
        return name(c,
                    "sum of block %zu added twice: everything from element %zu on is off by %.9Lg",
                    block - 1, s->first, s->offset);
    return false;
}

/* A step's own reference does not show which elements of the input it has added. */
static bool name_constant(const struct cause *c)
{
    const struct suspicion *s = c->is;
    bool sum_of_input = !c->v->problem.reference && to_the_end(c);
    size_t newest = whole(c, s->first) - !c->v->problem.inclusive;
    if (!is_constant(s)) return false;
    if (sum_of_input && same(s->offset, -s->addend_before, s->tolerance))
        return name(c, "element %zu of the input was left out", newest);
    if (sum_of_input && same(s->offset, s->addend_before, s->tolerance))
        return name(c, "element %zu of the input was added twice", newest);
    return name(c, "all are off by the same %.9Lg, from element %zu to %zu", s->offset,
                whole(c, s->first), whole(c, s->last));
}

void suspicion_name(const struct suspicion *s, const struct verifier *v, char *text, size_t size)
{
    struct cause c = {s, v, text, size};
    text[0] = '\0';
    if (name_unwritten(&c) || name_neighbour(&c) || name_value(&c) || name_block(&c) ||
        name_constant(&c))
        return;
    if (s->swapped > s->mismatches / 2)
        name(&c, "most are swapped with a neighbour, first %zu and %zu", whole(&c, s->first),
             whole(&c, s->first) + 1);
}
