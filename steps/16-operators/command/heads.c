/*
 * heads.c — where the sequences of --heads and --shape begin.
 *
 * Each element but the first begins a sequence with the probability 1 / every. That of element i
 * depends on the seed and i alone, so heads need no memory until an array of them is asked for.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#define OTHER_SEED 0x5CA9 /* heads are independent of the elements */

static uint64_t random_bits(uint64_t seed, uint64_t i) /* SplitMix64 */
{
    uint64_t z = (seed ^ OTHER_SEED) * 0xD1342543DE82EF95u + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

bool operators_begins(const struct request *r, size_t i)
{
    if (i == 0) return true;
    if (r->rows) return i % r->columns == 0;
    if (r->kind == SCAN_HEADS_NONE) return false;
    return random_bits(r->seed, i) % (r->every ? r->every : EVERY_DEFAULT) == 0;
}

bool operators_is_first(const struct request *r, size_t i, size_t n)
{
    if (!r->reverse) return operators_begins(r, i);
    return i + 1 == n || operators_begins(r, i + 1);
}

static size_t count_begins(const struct request *r, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += operators_begins(r, i);
    return count;
}

static void fill(const struct request *r, void *heads, size_t n)
{
    int32_t key = 0;
    size_t offset = 0;
    for (size_t i = 0; i < n; i++) {
        bool begins = operators_begins(r, i);
        key += begins;
        switch (r->kind) {
        case SCAN_HEADS_BYTES: ((uint8_t *)heads)[i] = begins; break;
        case SCAN_HEADS_BITS: ((uint32_t *)heads)[i / 32] |= (uint32_t)begins << i % 32; break;
        case SCAN_HEADS_KEYS: ((int32_t *)heads)[i] = key; break;
        default:
            if (begins) ((int64_t *)heads)[offset++] = (int64_t)i;
        }
    }
}

size_t operators_heads_bytes(const struct request *r, size_t n)
{
    switch (r->kind) {
    case SCAN_HEADS_NONE: return 0;
    case SCAN_HEADS_BYTES: return n;
    case SCAN_HEADS_BITS: return (n / 32 + (n % 32 > 0)) * 4;
    case SCAN_HEADS_KEYS: return n * 4;
    default: return (n / (r->every ? r->every : EVERY_DEFAULT) + 1) * 8;
    }
}

void *operators_heads(const struct request *r, size_t n, size_t *count, size_t *bytes)
{
    switch (r->kind) {
    case SCAN_HEADS_BITS: *count = n / 32 + (n % 32 > 0); break;
    case SCAN_HEADS_OFFSETS: *count = count_begins(r, n); break;
    default: *count = n;
    }
    bool offsets = r->kind == SCAN_HEADS_OFFSETS;
    *bytes = offsets ? *count * 8 : operators_heads_bytes(r, n);
    void *heads = calloc(*bytes, 1);
    if (heads) fill(r, heads, n);
    return heads;
}
