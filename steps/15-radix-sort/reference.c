/*
 * reference.c — the simple sort on the CPU that a result is compared with, element by element.
 *
 * It sorts by 16 bits at a time, the least significant ones first, and keeps the order of equal
 * keys. So it says for each key and for each value what it has to be.
 */
#include "step15.h"
#include "common/harness/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 16, COUNTERS = 1 << BITS };

/* A key as a number whose unsigned order is the one asked for, and where it was. */
struct item {
    uint64_t key;
    size_t index;
};

static uint64_t encoded(const struct problem *p, bool descending, size_t i)
{
    uint64_t key = element_key(p->element, p->in, i);
    return descending ? ~key : key;
}

/* A stable pass by the 16 bits from `shift` on. */
static void sort_pass(struct item *to, const struct item *from, size_t n, unsigned shift)
{
    size_t *start = allocated(calloc(COUNTERS, sizeof *start)), before = 0;
    for (size_t i = 0; i < n; i++) start[from[i].key >> shift & (COUNTERS - 1)]++;
    for (size_t d = 0; d < COUNTERS; d++) {
        size_t count = start[d];
        start[d] = before;
        before += count;
    }
    for (size_t i = 0; i < n; i++) to[start[from[i].key >> shift & (COUNTERS - 1)]++] = from[i];
    free(start);
}

static void compare(struct verdict *v, const struct problem *p, const struct item *sorted,
                    const void *out, bool pairs)
{
    size_t size = element_size(p->element), wrong_values = 0;
    const uint32_t *values = (const uint32_t *)((const char *)out + p->n * size);
    for (size_t i = 0; i < p->n; i++) {
        const char *want = (const char *)p->in + sorted[i].index * size;
        uint32_t index = (uint32_t)sorted[i].index;
        if (memcmp((const char *)out + i * size, want, size) != 0) {
            verdict_note_element(v, i, p->element, out, i, want);
        } else if (pairs && values[i] != index) {
            wrong_values++;
            verdict_note_element(v, i, ELEMENT_U32, values, i, &index);
        }
    }
    if (wrong_values && wrong_values == v->wrong)
        snprintf(v->cause, sizeof v->cause,
                 "all keys are right, but %zu values are not those of their keys, or equal keys "
                 "have changed their order",
                 wrong_values);
}

void sort_judge(const struct subject *s, const struct problem *p, const void *out,
                struct verdict *v)
{
    const struct request *r = s->self;
    struct item *items = allocated(malloc(2 * p->n * sizeof *items));
    struct item *from = items, *to = items + p->n;
    for (size_t i = 0; i < p->n; i++) from[i] = (struct item){encoded(p, r->descending, i), i};
    for (unsigned shift = 0; shift < 8 * element_size(p->element); shift += BITS) {
        sort_pass(to, from, p->n, shift);
        struct item *sorted = to;
        to = from, from = sorted;
    }
    compare(v, p, from, out, request_has_values(r));
    free(items);
}
