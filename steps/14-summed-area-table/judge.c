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
double judge_relative_error(enum variant variant, struct sat_size size)
{
    double depth = variant == FAST ? sat_depth(size) : sat_document_depth(size);
    return depth * ROUNDOFF / (1 - depth * ROUNDOFF);
}

static void check_table(struct verdict *v, const struct judged *j, const double *sums,
                        const double *magnitudes)
{
    bool modulo = j->variant == FAST && j->element != ELEMENT_F32;
    double error = judge_relative_error(j->variant, j->size);
    for (size_t y = 0, i = 0; y < j->size.height; y++)
        for (size_t x = 0; x < j->size.width; x++)
            for (unsigned c = 0; c < j->size.channels; c++, i++) {
                size_t at = judge_place(j->variant, j->size, x, y, c);
                bool exact = j->element != ELEMENT_F32 && sums[i] <= EXACT_UP_TO;
                if (modulo)
                    verdict_compare_integer(v, at, ELEMENT_U32, j->table, at, (uint64_t)sums[i]);
                else
                    verdict_compare_real(v, at, ELEMENT_F32, j->table, at, sums[i],
                                         exact ? 0 : error * magnitudes[i]);
            }
}

/* The fourth float of the document's entries, where there are three channels. */
static void check_fourth(struct verdict *v, const struct judged *j)
{
    if (j->variant == FAST || j->size.channels != 3) return;
    for (size_t i = 3; i < judge_entries(j->variant, j->size); i += 4)
        verdict_compare_integer(v, i, ELEMENT_U32, j->table, i, 0);
}

/* ---- filtered pictures ----------------------------------------------------------------------- */

/* The width of the window of a pixel. In the document's words, the depth gives a blur factor that
 * modulates the filter's width. */
static size_t width_at(const struct judged *j, size_t pixel)
{
    struct sat_focus f = j->window.focus;
    if (!j->window.depths) return j->window.width;
    unsigned depth = (unsigned)sample(j->window.depths, j->element, pixel);
    uint64_t far = f.farthest > f.focus ? f.farthest - f.focus : 0;
    uint64_t away = depth > f.focus ? depth - f.focus : f.focus - depth;
    uint64_t most = f.focus > far ? f.focus : far;
    if (away > most) away = most;
    return most ? 2 * ((away * ((f.width - 1) / 2) + most / 2) / most) + 1 : 1;
}

/* The sum over the window of a pixel, its number of pixels, and the entries at its corners, added
 * up: what the errors of a rounded table add up to grows with these. */
struct mean {
    double sum, pixels, corners;
};

/* The sum of the first x pixels of the first y rows. */
static double corner(const struct judged *j, const double *sums, size_t x, size_t y, unsigned c)
{
    return x && y ? sums[judge_place(FAST, j->size, x - 1, y - 1, c)] : 0;
}

static struct mean mean_at(const struct judged *j, const double *sums, size_t x, size_t y,
                           unsigned c)
{
    size_t width = width_at(j, y * j->size.width + x), before = (width - 1) / 2, behind = width / 2;
    size_t left = x > before ? x - before : 0, top = y > before ? y - before : 0;
    size_t right = j->size.width - x > behind ? x + behind + 1 : j->size.width;
    size_t bottom = j->size.height - y > behind ? y + behind + 1 : j->size.height;
    double ur = corner(j, sums, right, bottom, c); /* as in the document: upper right, … */
    double ul = corner(j, sums, left, bottom, c);
    double lr = corner(j, sums, right, top, c);
    double ll = corner(j, sums, left, top, c);
    return (struct mean){ur - ul - lr + ll, (double)((right - left) * (bottom - top)),
                         ur + ul + lr + ll};
}

/* A mean is rounded to the nearest, which may be another one where the sums are not exact: by the
 * errors of the four entries, of three additions, of the division, and of adding a half. */
static void check_picture(struct verdict *v, const struct judged *j, const double *sums)
{
    size_t samples = sat_samples(j->size), entries = judge_entries(j->variant, j->size);
    double error = judge_relative_error(j->variant, j->size) + 3 * ROUNDOFF;
    for (size_t i = 0; i < samples; i++) {
        size_t pixel = i / j->size.channels;
        struct mean m = mean_at(j, sums, pixel % j->size.width, pixel / j->size.width,
                                (unsigned)(i % j->size.channels));
        double mean = m.sum / m.pixels, rounding = 0.5 + 4 * ROUNDOFF * (mean + 1);
        uint32_t got = (uint32_t)sample(j->picture, j->element, i);
        if (j->variant == FAST)
            verdict_compare_integer(v, entries + i, ELEMENT_U32, &got, 0, (uint64_t)(mean + 0.5));
        else
            verdict_compare_real(v, entries + i, ELEMENT_U32, &got, 0, mean,
                                 rounding + error * m.corners / m.pixels);
    }
    v->checked += samples;
}

/* ---- everything ------------------------------------------------------------------------------ */

/* For the report: one sample that is left out may be as small as this. */
static double smallest(const struct judged *j)
{
    double least = INFINITY;
    if (j->element != ELEMENT_F32) return 1;
    for (size_t i = 0; i < sat_samples(j->size); i++) {
        double magnitude = fabs(sample(j->pixels, j->element, i));
        if (magnitude > 0 && magnitude < least) least = magnitude;
    }
    return least;
}

void sat_judge(struct verdict *v, const struct judged *j)
{
    size_t samples = sat_samples(j->size);
    double *sums = allocated(malloc(2 * samples * sizeof *sums)), *magnitudes = sums;
    v->right = v->exact = true;
    v->checked = samples;
    v->least = smallest(j);
    sat_reference(sums, j->pixels, j->element, j->size, false);
    if (j->element == ELEMENT_F32) {
        magnitudes = sums + samples;
        sat_reference(magnitudes, j->pixels, j->element, j->size, true);
    }
    check_table(v, j, sums, magnitudes);
    check_fourth(v, j);
    if (j->picture) check_picture(v, j, sums);
    free(sums);
}
