/*
 * verify_cause.c — a guess at why a result is wrong. Each suspicion counts the mismatches that it
 * explains; one that explains them all is named, the plainest first.
 */
#include "verify.h"

#include <math.h>
#include <stdio.h>

static bool same(long double a, long double b, long double tolerance)
{
    return fabsl(a - b) <= tolerance;
}

void suspect(struct suspicion *s, const struct evidence *e)
{
    bool first = s->mismatches == 0;
    if (first) {
        s->first = e->index;
        s->offset = e->got - e->want;
        s->carry = e->want - e->tile_sum;
        s->addend_before_first = e->addend_before;
    }
    s->never_written += e->poison;
    s->nan += isnan(e->got) && !e->poison;
    s->zero += e->got == 0;
    s->copied += e->got == e->addend;
    s->next += same(e->got, e->want_next, e->tolerance);
    s->previous += same(e->got, e->want_previous, e->tolerance);
    s->doubled += same(e->got, 2 * e->want, e->tolerance);
    s->tile_alone += same(e->got, e->tile_sum, e->tolerance);
    s->constant += same(e->got - e->want, s->offset, e->tolerance);
    /* this one has the other's value, and the other has this one's */
    if (!first && e->index == s->last + 1 && same(e->got, s->want_before, e->tolerance) &&
        same(s->got_before, e->want, e->tolerance))
        s->swapped += 2;
    s->last = e->index;
    s->got_before = e->got;
    s->want_before = e->want;
    s->mismatches++;
}

void suspicion_name(const struct suspicion *s, const struct verifier *v, char *text, size_t size)
{
    size_t all = s->mismatches, checked = v->verdict.checked, n = v->problem.n;
    bool inclusive = v->problem.inclusive;
    size_t tile = v->tile, block = tile ? s->first / tile : 0;
    bool at_tile = tile && s->first % tile == 0 && s->first > 0;
    bool to_the_end = s->last == n - 1;
    bool constant = s->constant == all && s->last - s->first + 1 == all; /* without gaps */
    text[0] = '\0';

    if (s->never_written == all && all == checked)
        snprintf(text, size, "the output was never written");
    else if (s->never_written == all && to_the_end && s->first + all == n)
        snprintf(text, size, "the last %zu elements were never written", all);
    else if (s->never_written == all)
        snprintf(text, size, "%zu elements were never written, the first is %zu", all, s->first);
    else if (s->nan == all)
        snprintf(text, size, "NaN: something was read before it was written, or beyond the end");
    else if (inclusive && s->previous == all && all > 1)
        snprintf(text, size, "exclusive for inclusive: no element has its own input in it");
    else if (!inclusive && s->next == all && to_the_end)
        snprintf(text, size, "inclusive for exclusive: each element has its own input in it");
    else if (s->next == all && all > 1)
        snprintf(text, size, "shifted by one: each element is its right neighbour's");
    else if (s->previous == all && all > 1)
        snprintf(text, size, "shifted by one: each element is its left neighbour's");
    else if (s->zero == all && all > 1)
        snprintf(text, size, "zeros: nothing was added up");
    else if (s->copied == all && all > 1)
        snprintf(text, size, "the input was copied, not scanned");
    else if (s->doubled == all && all > 1)
        snprintf(text, size, "twice the sum: every element was added twice");
    else if (s->swapped == all)
        snprintf(text, size, "neighbours were swapped, first %zu and %zu", s->first, s->first + 1);
    else if (all == 1 && to_the_end)
        snprintf(text, size, "only the last element is wrong");
    else if (at_tile && constant && s->offset == s->carry)
        snprintf(text, size, "carry of block %zu added twice: element %zu and on are off by %.9Lg",
                 block, s->first, s->offset);
    else if (at_tile && constant && s->last / tile == block)
        snprintf(text, size, "carry of block %zu dropped: elements %zu to %zu are off by %.9Lg",
                 block, s->first, s->last, s->offset);
    else if (at_tile && s->tile_alone == all)
        snprintf(text, size, "carries dropped: from block %zu on each block begins at 0 again",
                 block);
    else if (at_tile && constant && to_the_end)
        snprintf(text, size,
                 "carry of block %zu dropped: everything from element %zu on is off by %.9Lg",
                 block, s->first, s->offset);
    else if (constant && all > 1 && s->offset == -s->addend_before_first)
        snprintf(text, size, "element %zu of the input was left out", s->first - 1);
    else if (constant && all > 1 && s->offset == s->addend_before_first)
        snprintf(text, size, "element %zu of the input was added twice", s->first - 1);
    else if (constant && all > 1)
        snprintf(text, size, "all are off by the same %.9Lg, from element %zu to %zu", s->offset,
                 s->first, s->last);
    else if (s->swapped > all / 2)
        snprintf(text, size, "most are swapped with a neighbour, first %zu and %zu", s->first,
                 s->first + 1);
}
