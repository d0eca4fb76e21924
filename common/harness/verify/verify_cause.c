/*
 * verify_cause.c — a guess at why a result is wrong. Each suspicion counts the mismatches that it
 * explains; one that explains them all is named, the plainest first. A name says no more than what
 * was compared: of a block's carry it speaks only where the error is that carry.
 */
#include "verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

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
    if (all == 1)
        return to_the_last(c) && whole(c, s->last) > 0 && name(c, "only the last element is wrong");
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
