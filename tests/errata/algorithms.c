#include "algorithms.h"

#include <string.h>

static int log2_of(size_t n)
{
    int d = 0;
    while ((size_t)1 << d < n) d++;
    return d;
}

/* Element k, or 0 beyond the array. */
static long at(struct array *a, long k)
{
    if (k < 0 || (size_t)k >= a->n) {
        a->outside = true;
        return 0;
    }
    return a->x[k];
}

static void put(struct array *a, long k, long value)
{
    if (k < 0 || (size_t)k >= a->n)
        a->outside = true;
    else
        a->x[k] = value;
}

void sequential(struct array *out, const struct array *in, bool as_printed)
{
    struct array from = *in;
    *out = (struct array){.n = in->n};
    size_t last = as_printed ? in->n : in->n - 1;
    for (size_t k = 1; k <= last; k++) {
        put(out, (long)k, at(&from, (long)k - 1) + at(out, (long)k - 1));
        out->adds++;
    }
}

/* One step of Algorithms 1 and 2: from one array to another. */
static void naive_step(const struct array *in, struct array *out, int d, bool as_printed)
{
    size_t reach = (size_t)1 << (d - 1), first = as_printed ? 2 * reach : reach;
    for (size_t k = 0; k < in->n; k++) {
        out->x[k] = k >= first ? in->x[k - reach] + in->x[k] : in->x[k];
        out->adds += k >= first;
    }
}

void naive(struct array *a, bool as_printed)
{
    for (int d = 1; d <= log2_of(a->n); d++) {
        struct array before = *a;
        naive_step(&before, a, d, as_printed);
    }
}

void naive_buffered(struct array *a, bool as_printed, bool swaps)
{
    struct array buffer[2] = {*a, {.n = a->n}};
    int in = 0, out = 1;
    for (int d = 1; d <= log2_of(a->n); d++) {
        naive_step(&buffer[in], &buffer[out], d, as_printed);
        if (swaps) in = 1 - in, out = 1 - out;
    }
    size_t adds = buffer[0].adds + buffer[1].adds;
    *a = buffer[swaps ? in : out]; /* what was written last */
    a->adds = adds;
}

void tree(struct array *a, enum tree_as as)
{
    int levels = log2_of(a->n);
    for (int d = 0; d < levels; d++) {
        long half = 1L << d, whole = 2 * half, right = as == TREE_GEMS_INDEX ? half + 1 : whole;
        long stride = as == TREE_GEMS_STRIDE ? half + 1 : whole;
        struct array before = *a;
        for (long k = 0; k < (long)a->n; k += stride, a->adds++)
            put(a, k + whole - 1, at(&before, k + half - 1) + at(&before, k + right - 1));
        a->outside = a->outside || before.outside;
    }
    a->x[a->n - 1] = 0;
    for (int d = as == TREE_HARRIS_TOP ? levels : levels - 1; d >= 0; d--) {
        long half = 1L << d, whole = 2 * half, right = as == TREE_GEMS_INDEX ? half + 1 : whole;
        long stride = as == TREE_GEMS_STRIDE ? half + 1 : whole;
        struct array before = *a;
        for (long k = 0; k < (long)a->n; k += stride, a->adds++) {
            long t = at(&before, k + half - 1), parent = at(&before, k + right - 1);
            put(a, k + half - 1, parent);
            put(a, k + right - 1, t + parent);
        }
        a->outside = a->outside || before.outside;
    }
}

void hybrid(struct array *a, enum hybrid_as as, int steps)
{
    enum { LEVELS = 11 };
    static _Thread_local struct array level[LEVELS];
    int levels = log2_of(a->n);
    level[0] = *a;
    for (int d = 1; d <= levels; d++) {
        level[d] = (struct array){.n = a->n >> d};
        for (size_t k = as == HYBRID_FROM_1; d <= steps && k < level[d].n; k++, a->adds++)
            level[d].x[k] = level[d - 1].x[2 * k] + level[d - 1].x[2 * k + 1];
    }
    naive_buffered(&level[steps], false, true);
    a->adds += level[steps].adds;
    for (int d = (as == HYBRID_PRINTED_TOP ? levels : steps) - 1; d >= 0; d--)
        for (size_t k = 0; k < level[d].n; k++) {
            if (as == HYBRID_PRINTED_DOWN) { /* the else belongs to k > 0 there */
                if (k > 0 && k % 2 != 0) level[d].x[k] = level[d + 1].x[k / 2];
                if (k == 0) level[d].x[0] = at(&level[d + 1], -1);
            } else if (k > 0 && k % 2 != 0) {
                level[d].x[k] = level[d + 1].x[k / 2];
            } else if (k > 0) {
                level[d].x[k] += level[d + 1].x[k / 2 - 1];
                a->adds++;
            }
        }
    memcpy(a->x, level[0].x, a->n * sizeof *a->x);
    for (int d = 0; d <= levels; d++) a->outside = a->outside || level[d].outside;
}

void split_places(const unsigned *keys, size_t n, unsigned bit, size_t *place, bool as_printed)
{
    size_t zeros_before[MOST_ELEMENTS], zeros = 0;
    for (size_t i = 0; i < n; i++) {
        zeros_before[i] = zeros;
        zeros += !(keys[i] >> bit & 1);
    }
    size_t total = as_printed ? zeros_before[n - 1] : zeros;
    for (size_t i = 0; i < n; i++)
        place[i] = keys[i] >> bit & 1 ? i - zeros_before[i] + total : zeros_before[i];
}
