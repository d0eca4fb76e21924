/*
 * judge.c — compares every entry of a table, and every sample of a filtered picture, with the
 * reference.
 *
 * Tables of integers have to be equal modulo 2^32, and pictures made of them equal. A float that is
 * a sum of whole numbers is exact up to 2^24, since no sum on the way is larger; beyond, and for
 * floats as pixels, each addition on the way may be wrong by 2^-24 of the magnitudes.
 */
#include "request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDOFF    0x1p-24 /* of float */
#define EXACT_UP_TO 0x1p24

/* ---- one value ------------------------------------------------------------------------------- */

static void note(struct verdict *v, size_t index, double got, double want)
{
    struct mismatch *m = verdict_note(v, index);
    if (!m) return;
    snprintf(m->got, sizeof m->got, "%.10g", got);
    snprintf(m->want, sizeof m->want, "%.10g", want);
}

static void compare(struct verdict *v, size_t index, double got, double want, double bound)
{
    double error = fabs(got - want);
    v->checked++;
    if (bound > v->bound) v->bound = bound;
    if (bound > 0) v->exact = false;
    if (!(error <= bound))
        note(v, index, got, want);
    else if (bound > 0 && error / bound > v->worst)
        v->worst = error / bound;
}

/* Each of the additions on the way from a pixel to its entry may round. */
double judge_relative_error(enum variant variant, struct sat_size size)
{
    double depth = variant == FAST ? sat_depth(size) : sat_document_depth(size);
    return depth * ROUNDOFF / (1 - depth * ROUNDOFF);
}

/* How far a float may be from an exact sum, if the magnitudes add up to this. */
static double error_bound(const struct judged *j, double magnitude)
{
    return judge_relative_error(j->variant, j->size) * magnitude;
}

static double bound_of_sum(const struct judged *j, uint64_t sum)
{
    return (double)sum <= EXACT_UP_TO ? 0 : error_bound(j, (double)sum);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Calls `check` with every entry: its place in the variant's table and in the reference. */
typedef void entry_fn(struct verdict *, const struct judged *, size_t place, size_t i,
                      const void *want);

static void for_each_entry(struct verdict *v, const struct judged *j, entry_fn *check,
                           const void *want)
{
    size_t i = 0;
    for (size_t y = 0; y < j->size.height; y++)
        for (size_t x = 0; x < j->size.width; x++)
            for (unsigned c = 0; c < j->size.channels; c++)
                check(v, j, judge_place(j->variant, j->size, x, y, c), i++, want);
}

static void check_modulo(struct verdict *v, const struct judged *j, size_t place, size_t i,
                         const void *want)
{
    compare(v, place, ((const uint32_t *)j->table)[place], (uint32_t)((const uint64_t *)want)[i],
            0);
}

static void check_rounded(struct verdict *v, const struct judged *j, size_t place, size_t i,
                          const void *want)
{
    uint64_t sum = ((const uint64_t *)want)[i];
    compare(v, place, (double)((const float *)j->table)[place], (double)sum, bound_of_sum(j, sum));
}

/* `want` has the sums, and behind them the magnitudes. */
static void check_float(struct verdict *v, const struct judged *j, size_t place, size_t i,
                        const void *want)
{
    size_t count = j->size.width * j->size.height * j->size.channels;
    const double *sums = want, *magnitudes = sums + count;
    compare(v, place, (double)((const float *)j->table)[place], sums[i],
            error_bound(j, magnitudes[i]));
}

/* The fourth float of the document's entries, where there are three channels. */
static void check_fourth(struct verdict *v, const struct judged *j)
{
    size_t pixels = j->size.width * j->size.height;
    if (j->variant == FAST || j->size.channels != 3) return;
    for (size_t i = 0; i < pixels; i++) {
        float fourth = ((const float *)j->table)[4 * i + 3];
        if (fourth != 0 || signbit(fourth)) note(v, 4 * i + 3, (double)fourth, 0);
    }
}

/* ---- filtered pictures ----------------------------------------------------------------------- */

/* A mean is rounded to the nearest, which may be another one where the sums are not exact. */
static void check_mean(struct verdict *v, const struct judged *j, const uint64_t *sums, size_t x,
                       size_t y, unsigned c)
{
    size_t i = (y * j->size.width + x) * j->size.channels + c;
    struct mean m = sat_reference_mean(sums, j->element, j->size, j->window, x, y, c);
    double got = j->element == ELEMENT_I8 ? ((const uint8_t *)j->picture)[i]
                                          : ((const uint16_t *)j->picture)[i];
    double mean = (double)m.sum / (double)m.pixels;
    size_t index = judge_entries(j->variant, j->size) + i;
    if (j->variant == FAST) {
        compare(v, index, got, (double)((m.sum + m.pixels / 2) / m.pixels), 0);
        return;
    }
    /* Errors of the four entries, of three additions, of the division, and of adding a half. */
    double corners = sat_reference_corners(sums, j->element, j->size, j->window, x, y, c);
    double error = (error_bound(j, corners) + 3 * ROUNDOFF * corners) / (double)m.pixels;
    compare(v, index, got, mean, 0.5 + error + 4 * ROUNDOFF * (mean + 1));
}

static void check_picture(struct verdict *v, const struct judged *j, const uint64_t *sums)
{
    for (size_t y = 0; y < j->size.height; y++)
        for (size_t x = 0; x < j->size.width; x++)
            for (unsigned c = 0; c < j->size.channels; c++) check_mean(v, j, sums, x, y, c);
}

/* ---- everything ------------------------------------------------------------------------------ */

/* For the report: one sample that is left out may be as small as this. */
static double smallest(const struct judged *j)
{
    size_t count = j->size.width * j->size.height * j->size.channels;
    double least = INFINITY;
    if (j->element != ELEMENT_F32) return 1;
    for (size_t i = 0; i < count; i++) {
        double magnitude = fabs((double)((const float *)j->pixels)[i]);
        if (magnitude > 0 && magnitude < least) least = magnitude;
    }
    return least;
}

void sat_judge(struct verdict *v, const struct judged *j)
{
    size_t count = j->size.width * j->size.height * j->size.channels;
    void *want = allocated(malloc(2 * count * sizeof(double)));
    v->right = v->exact = true;
    v->checked = 0;
    v->least = smallest(j);
    if (j->element == ELEMENT_F32) {
        sat_reference_floats(want, (double *)want + count, j->pixels, j->size);
        for_each_entry(v, j, check_float, want);
    } else {
        sat_reference_table(want, j->pixels, j->element, j->size);
        for_each_entry(v, j, j->variant == FAST ? check_modulo : check_rounded, want);
        if (j->picture) check_picture(v, j, want);
    }
    check_fourth(v, j);
    free(want);
}

/* ---- the reference --------------------------------------------------------------------------- */

/* What step 14 has to give, computed on the CPU in 64 bits. */

static uint64_t sample(const void *pixels, enum element element, size_t i)
{
    return element == ELEMENT_I8 ? ((const uint8_t *)pixels)[i] : ((const uint16_t *)pixels)[i];
}

void sat_reference_table(uint64_t *table, const void *pixels, enum element element,
                         struct sat_size size)
{
    size_t row = size.width * size.channels;
    for (size_t y = 0; y < size.height; y++) {
        uint64_t left[4] = {0}; /* this row's sum so far, of each channel */
        for (size_t k = 0; k < row; k++) {
            left[k % size.channels] += sample(pixels, element, y * row + k);
            table[y * row + k] = left[k % size.channels] + (y > 0 ? table[(y - 1) * row + k] : 0);
        }
    }
}

void sat_reference_floats(double *table, double *magnitudes, const float *pixels,
                          struct sat_size size)
{
    size_t row = size.width * size.channels;
    for (size_t y = 0; y < size.height; y++) {
        double left[4] = {0}, left_magnitude[4] = {0};
        for (size_t k = 0; k < row; k++) {
            size_t i = y * row + k, c = k % size.channels;
            left[c] += (double)pixels[i];
            left_magnitude[c] += fabs((double)pixels[i]);
            table[i] = left[c] + (y > 0 ? table[i - row] : 0);
            magnitudes[i] = left_magnitude[c] + (y > 0 ? magnitudes[i - row] : 0);
        }
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Pixels before and behind the one in the middle. */
struct reach {
    size_t before, behind;
};

/* In the document's words, the depth gives a blur factor that modulates the filter's width. */
static struct reach reach_at(struct window w, enum element element, size_t pixel)
{
    if (!w.depths) return (struct reach){(w.width - 1) / 2, w.width / 2};
    uint64_t focus = w.focus.focus, depth = sample(w.depths, element, pixel);
    uint64_t far = w.focus.farthest > focus ? w.focus.farthest - focus : 0;
    uint64_t away = depth > focus ? depth - focus : focus - depth, most = focus > far ? focus : far;
    if (away > most) away = most;
    size_t r = most ? (away * ((w.focus.width - 1) / 2) + most / 2) / most : 0;
    return (struct reach){r, r};
}

/* First and last of the positions of a window in a row or column of `count`. */
struct span {
    size_t first, last;
};

static struct span span_around(size_t at, struct reach r, size_t count)
{
    return (struct span){at > r.before ? at - r.before : 0,
                         count - 1 - at > r.behind ? at + r.behind : count - 1};
}

struct corners {
    uint64_t ur, ul, lr, ll, pixels; /* as in the document: upper right, … */
};

static struct corners corners_at(const uint64_t *table, enum element element, struct sat_size size,
                                 struct window w, size_t x, size_t y, unsigned channel)
{
    struct reach r = reach_at(w, element, y * size.width + x);
    struct span h = span_around(x, r, size.width), v = span_around(y, r, size.height);
#define ENTRY(x, y) table[((y)*size.width + (x)) * size.channels + channel]
    return (struct corners){
        .ur = ENTRY(h.last, v.last),
        .ul = h.first > 0 ? ENTRY(h.first - 1, v.last) : 0,
        .lr = v.first > 0 ? ENTRY(h.last, v.first - 1) : 0,
        .ll = h.first > 0 && v.first > 0 ? ENTRY(h.first - 1, v.first - 1) : 0,
        .pixels = (h.last - h.first + 1) * (v.last - v.first + 1),
    };
#undef ENTRY
}

struct mean sat_reference_mean(const uint64_t *table, enum element element, struct sat_size size,
                               struct window w, size_t x, size_t y, unsigned channel)
{
    struct corners c = corners_at(table, element, size, w, x, y, channel);
    return (struct mean){c.ur - c.ul - c.lr + c.ll, c.pixels};
}

double sat_reference_corners(const uint64_t *table, enum element element, struct sat_size size,
                             struct window w, size_t x, size_t y, unsigned channel)
{
    struct corners c = corners_at(table, element, size, w, x, y, channel);
    return (double)c.ur + (double)c.ul + (double)c.lr + (double)c.ll;
}
