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

/* n keys as numbers whose unsigned order is the one asked for, and where each was. */
struct sorted {
    size_t n;
    uint64_t *key, *key_room;
    uint32_t *index, *index_room; /* NULL: not asked for */
    size_t *start;                /* COUNTERS of them */
    enum element element;
    bool descending;
};

static uint64_t key_bits(enum element element, const void *keys, size_t i)
{
    if (element_size(element) == 8) return ((const uint64_t *)keys)[i];
    return ((const uint32_t *)keys)[i];
}

static uint64_t all_bits(enum element element)
{
    return element_size(element) == 8 ? UINT64_MAX : UINT32_MAX;
}

/* Flips what has to be flipped for unsigned order (rank.cuh does the same on the GPU). */
static uint64_t flips(enum element element, bool descending, bool negative)
{
    uint64_t all = all_bits(element), sign = all ^ all >> 1, flip = 0;
    if (element_is_real(element))
        flip = negative ? all : sign;
    else if (element == ELEMENT_I32 || element == ELEMENT_I64)
        flip = sign;
    return descending ? flip ^ all : flip;
}

static uint64_t encoded(const struct sorted *s, uint64_t bits)
{
    uint64_t all = all_bits(s->element);
    return bits ^ flips(s->element, s->descending, (bits & (all ^ all >> 1)) != 0);
}

static void swap_rooms(struct sorted *s)
{
    uint64_t *key = s->key;
    uint32_t *index = s->index;
    s->key = s->key_room, s->key_room = key;
    s->index = s->index_room, s->index_room = index;
}

/* A stable pass by the 16 bits from `shift` on. */
static void sort_pass(struct sorted *s, unsigned shift)
{
    memset(s->start, 0, COUNTERS * sizeof *s->start);
    for (size_t i = 0; i < s->n; i++) s->start[s->key[i] >> shift & (COUNTERS - 1)]++;
    for (size_t d = 0, before = 0; d < COUNTERS; d++) {
        size_t count = s->start[d];
        s->start[d] = before;
        before += count;
    }
    for (size_t i = 0; i < s->n; i++) {
        size_t to = s->start[s->key[i] >> shift & (COUNTERS - 1)]++;
        s->key_room[to] = s->key[i];
        if (s->index) s->index_room[to] = s->index[i];
    }
    swap_rooms(s);
}

static void sorted_free(struct sorted *s)
{
    free(s->key);
    free(s->key_room);
    free(s->index);
    free(s->index_room);
    free(s->start);
}

static void sorted_make(struct sorted *s, const struct request *r, const struct problem *p)
{
    size_t n = p->n;
    bool indexed = request_has_values(r);
    *s = (struct sorted){.n = n,
                         .key = allocated(malloc(n * sizeof *s->key)),
                         .key_room = allocated(malloc(n * sizeof *s->key)),
                         .start = allocated(malloc(COUNTERS * sizeof *s->start)),
                         .element = p->element,
                         .descending = r->descending};
    if (indexed) {
        s->index = allocated(malloc(n * sizeof *s->index));
        s->index_room = allocated(malloc(n * sizeof *s->index));
    }
    for (size_t i = 0; i < n; i++) {
        s->key[i] = encoded(s, key_bits(p->element, p->in, i));
        if (s->index) s->index[i] = (uint32_t)i;
    }
    for (unsigned shift = 0; shift < 8 * element_size(p->element); shift += BITS)
        sort_pass(s, shift);
}

/* The bits of the key whose encoding is x. */
static uint64_t decoded(const struct sorted *s, uint64_t x)
{
    uint64_t sign = all_bits(s->element) ^ all_bits(s->element) >> 1;
    uint64_t negative = x ^ flips(s->element, s->descending, true);
    return negative & sign ? negative : x ^ flips(s->element, s->descending, false);
}

static void compare(struct verdict *v, const struct sorted *s, const void *out)
{
    enum element element = s->element;
    const uint32_t *values = (const uint32_t *)((const char *)out + s->n * element_size(element));
    size_t wrong_values = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t want = decoded(s, s->key[i]);
        uint32_t narrow = (uint32_t)want;
        bool wide = element_size(element) == 8;
        if (key_bits(element, out, i) != want)
            verdict_note_element(v, i, element, out, i,
                                 wide ? (const void *)&want : (const void *)&narrow);
        else if (s->index && values[i] != s->index[i]) {
            wrong_values++;
            verdict_note_element(v, i, ELEMENT_U32, values, i, &s->index[i]);
        }
    }
    if (wrong_values && wrong_values == v->wrong)
        snprintf(v->cause, sizeof v->cause,
                 "all keys are right, but %zu values are not those of their keys, or equal keys "
                 "have changed their order",
                 wrong_values);
}

void sort_judge(const struct request *r, const struct problem *p, const void *out,
                struct verdict *v)
{
    struct sorted s;
    sorted_make(&s, r, p);
    compare(v, &s, out);
    sorted_free(&s);
}
