/*
 * judge.c — compares every entry of a table, and every sample of a filtered picture, with the
 * reference.
 *
 * Tables of integers have to be equal modulo 2^32, and pictures made of them equal. A float that is
 * a sum of whole numbers is exact up to 2^24, since no sum on the way is larger; beyond, and for
 * floats as pixels, each addition on the way may be wrong by 2^-24 of the magnitudes.
 */
#include "common/files/fault.h"
#include "common/harness/verify/verify.h"
#include "step14.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDOFF    0x1p-24 /* of float */
#define EXACT_UP_TO 0x1p24

/* ---- the reference --------------------------------------------------------------------------- */

static double sample(const void *pixels, enum element element, size_t i)
{
    if (element == ELEMENT_I8) return ((const uint8_t *)pixels)[i];
    if (element == ELEMENT_I16) return ((const uint16_t *)pixels)[i];
    return (double)((const float *)pixels)[i];
}

void sat_reference(double *table, const void *pixels, enum element element, struct sat_size size,
                   bool magnitudes)
{
    size_t row = size.width * size.channels;
    for (size_t y = 0; y < size.height; y++) {
        double left[4] = {0}; /* this row's sum so far, of each channel */
        for (size_t k = 0; k < row; k++) {
            size_t i = y * row + k;
            double x = sample(pixels, element, i);
            left[k % size.channels] += magnitudes ? fabs(x) : x;
            table[i] = left[k % size.channels] + (y > 0 ? table[i - row] : 0);
        }
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Each of the additions on the way from a pixel to its entry may round. */
double sat_relative_error(const struct request *r)
{
    double depth = r->variant == FAST ? sat_depth(r->size) : sat_document_depth(r->size);
    return depth * ROUNDOFF / (1 - depth * ROUNDOFF);
}

/* Where there are three channels, the fourth of the document's entries has to be +0. */
static void check_table(struct verdict *v, const struct request *r, const void *table,
                        const double *sums, const double *magnitudes)
{
    bool modulo = r->variant == FAST && r->element != ELEMENT_F32;
    double error = sat_relative_error(r);
    for (size_t pixel = 0, i = 0; pixel < r->size.width * r->size.height; pixel++)
        for (unsigned c = 0; c < sat_entry_channels(r); c++) {
            size_t at = sat_place(r, pixel % r->size.width, pixel / r->size.width) + c;
            if (modulo || c >= r->size.channels) {
                uint64_t want = c < r->size.channels ? (uint64_t)sums[i++] : 0;
                verdict_compare_integer(v, at, ELEMENT_U32, table, at, want);
            } else {
                bool exact = r->element != ELEMENT_F32 && sums[i] <= EXACT_UP_TO;
                verdict_compare_real(v, at, ELEMENT_F32, table, at, sums[i],
                                     exact ? 0 : error * magnitudes[i]);
                i++;
            }
        }
}

/* ---- filtered pictures ----------------------------------------------------------------------- */

/* The width of the window of a pixel. In the document's words, the depth gives a blur factor that
 * modulates the filter's width. */
static size_t width_at(const struct request *r, const void *pixels, size_t pixel)
{
    struct sat_focus f = r->window;
    if (!r->depth) return f.width;
    unsigned depth = (unsigned)sample(pixels, r->element, sat_samples(r->size) + pixel);
    uint64_t far = f.farthest > f.focus ? f.farthest - f.focus : 0;
    uint64_t away = depth > f.focus ? depth - f.focus : f.focus - depth;
    uint64_t most = f.focus > far ? f.focus : far;
    if (away > most) away = most;
    return most ? 2 * ((away * ((f.width - 1) / 2) + most / 2) / most) + 1 : 1;
}

/* The sum of the first x pixels of the first y rows. */
static double corner(struct sat_size size, const double *sums, size_t x, size_t y, unsigned c)
{
    return x && y ? sums[((y - 1) * size.width + x - 1) * size.channels + c] : 0;
}

/* A mean is rounded to the nearest, which may be another one where the sums are not exact: by the
 * errors of the four entries, of three additions, of the division, and of adding a half. */
static void check_picture(struct verdict *v, const struct request *r, const void *in,
                          const void *picture, const double *sums)
{
    struct sat_size size = r->size;
    size_t entries = sat_table_bytes(r) / 4;
    double error = sat_relative_error(r) + 3 * ROUNDOFF;
    for (size_t i = 0; i < sat_samples(size); i++) {
        unsigned c = (unsigned)(i % size.channels);
        size_t x = i / size.channels % size.width, y = i / size.channels / size.width;
        size_t width = width_at(r, in, i / size.channels);
        size_t before = (width - 1) / 2, behind = width / 2;
        size_t left = x > before ? x - before : 0, top = y > before ? y - before : 0;
        size_t right = size.width - x > behind ? x + behind + 1 : size.width;
        size_t bottom = size.height - y > behind ? y + behind + 1 : size.height;
        double ur = corner(size, sums, right, bottom, c); /* as in the document: upper right, … */
        double ul = corner(size, sums, left, bottom, c);
        double lr = corner(size, sums, right, top, c);
        double ll = corner(size, sums, left, top, c);
        double pixels = (double)((right - left) * (bottom - top));
        double mean = (ur - ul - lr + ll) / pixels, rounding = 0.5 + 4 * ROUNDOFF * (mean + 1);
        uint32_t got = (uint32_t)sample(picture, r->element, i);
        if (r->variant == FAST)
            verdict_compare_integer(v, entries + i, ELEMENT_U32, &got, 0, (uint64_t)(mean + 0.5));
        else
            verdict_compare_real(v, entries + i, ELEMENT_U32, &got, 0, mean,
                                 rounding + error * (ur + ul + lr + ll) / pixels);
    }
}

/* ---- everything ------------------------------------------------------------------------------ */

void sat_judge(struct verdict *v, const struct request *r, const void *in, const void *out)
{
    size_t samples = sat_samples(r->size);
    double *sums = allocated(malloc(2 * samples * sizeof *sums)), *magnitudes = sums;
    v->checked = r->window.width ? 2 * samples : samples;
    sat_reference(sums, in, r->element, r->size, false);
    if (r->element == ELEMENT_F32)
        sat_reference(magnitudes = sums + samples, in, r->element, r->size, true);
    check_table(v, r, out, sums, magnitudes);
    if (r->window.width) check_picture(v, r, in, (const char *)out + sat_table_bytes(r), sums);
    free(sums);
}
