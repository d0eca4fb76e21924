/*
 * curand_distributions.c — from words to numbers of a distribution. Uniform numbers are exactly
 * those of cuRAND. Normal ones are made as there (Box and Muller; for quasi-random words the
 * inverse of the distribution function, by Wichura's AS 241), with the C library's functions: the
 * last bits may differ. Poisson's are found in a table of the distribution function, by one uniform
 * number each.
 */
#include "curand_inside.h"

#include <math.h>
#include <stdlib.h>

#define TWO_PI 6.283185307179586

size_t distribution_bytes(enum distribution d) { return is_double(d) ? 8 : 4; }

unsigned distribution_words(enum distribution d)
{
    return (is_paired(d) ? 2 : 1) * (is_double(d) ? 2 : 1);
}

/* ---- uniform --------------------------------------------------------------------------------- */

/* In (0, 1]. */
static float uniform_float(uint32_t word) { return (float)word * 0x1p-32f + 0x1p-33f; }

static double uniform_double(uint32_t low, uint32_t high)
{
    return (double)((uint64_t)low ^ (uint64_t)high << 21) * 0x1p-53 + 0x1p-54;
}

static double uniform_mrg(struct mrg *g) { return mrg_next(g) * 2.3283065498378288e-10; }

/* ---- normal ---------------------------------------------------------------------------------- */

static double shaped(const struct shape *s, double normal)
{
    double value = s->mean + s->deviation * normal;
    return s->is_log ? exp(value) : value;
}

static float shaped_float(const struct shape *s, float normal)
{
    float value = (float)s->mean + (float)s->deviation * normal;
    return s->is_log ? expf(value) : value;
}

/* `angle` in radians. */
static void write_pair(const struct shape *s, float u, float angle, float *to)
{
    float radius = sqrtf(-2 * logf(u));
    to[0] = shaped_float(s, radius * sinf(angle));
    to[1] = shaped_float(s, radius * cosf(angle));
}

/* `angle` in turns. */
static void write_pair_double(const struct shape *s, double u, double angle, double *to)
{
    double radius = sqrt(-2 * log(u));
    to[0] = shaped(s, radius * sin(angle * TWO_PI));
    to[1] = shaped(s, radius * cos(angle * TWO_PI));
}

static double polynomial(const double *c, int degree, double x)
{
    double sum = c[degree];
    while (degree > 0) sum = sum * x + c[--degree];
    return sum;
}

/* The normal deviate below which a fraction p of all lie. (Wichura, PPND16) */
static double inverse_normal(double p)
{
    static const double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                               1.9715909503065514427e+3, 1.3731693765509461125e+4,
                               4.5921953931549871457e+4, 6.7265770927008700853e+4,
                               3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[] = {1.0,
                               4.2313330701600911252e+1,
                               6.8718700749205790830e+2,
                               5.3941960214247511077e+3,
                               2.1213794301586595867e+4,
                               3.9307895800092710610e+4,
                               2.8729085735721942674e+4,
                               5.2264952788528545610e+3};
    static const double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                               5.76949722146069140550e0,  3.64784832476320460504e0,
                               1.27045825245236838258e0,  2.41780725177450611770e-1,
                               2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[] = {1.0,
                               2.05319162663775882187e0,
                               1.67638483018380384940e0,
                               6.89767334985100004550e-1,
                               1.48103976427480074590e-1,
                               1.51986665636164571966e-2,
                               5.47593808499534494600e-4,
                               1.05075007164441684324e-9};
    static const double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                               1.78482653991729133580e0,  2.96560571828504891230e-1,
                               2.65321895265761230930e-2, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[] = {1.0,
                               5.99832206555887937690e-1,
                               1.36929880922735805310e-1,
                               1.48753612908506148525e-2,
                               7.86869131145613259100e-4,
                               1.84631831751005468180e-5,
                               1.42151175831644588870e-7,
                               2.04426310338993978564e-15};
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(a, 7, r) / polynomial(b, 7, r);
    }
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? polynomial(c, 7, r - 1.6) / polynomial(d, 7, r - 1.6)
                      : polynomial(e, 7, r - 5) / polynomial(f, 7, r - 5);
    return q < 0 ? -x : x;
}

/* ---- Poisson --------------------------------------------------------------------------------- */

/* The values that are at most 12 standard deviations from lambda; beyond lie less than 2^-64. */
double *poisson_table(struct shape *s)
{
    double reach = 12 * sqrt(s->mean) + 40, sum = 0;
    s->first = s->mean > reach ? (size_t)(s->mean - reach) : 0;
    s->count = (size_t)(s->mean + reach) - s->first + 1;
    double *table = malloc(s->count * sizeof *table);
    for (size_t i = 0; table != NULL && i < s->count; i++) {
        double k = (double)(s->first + i);
        sum += exp(k * log(s->mean) - s->mean - lgamma(k + 1));
        table[i] = sum;
    }
    s->cumulated = table;
    return table;
}

static uint32_t poisson(const struct shape *s, double u)
{
    size_t low = 0, high = s->count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->cumulated[middle] >= u)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)(s->first + low);
}

/* ---- items ----------------------------------------------------------------------------------- */

void write_words(const struct shape *s, const uint32_t *w, void *to, size_t at)
{
    switch (s->distribution) {
    case WORDS: ((uint32_t *)to)[at] = w[0]; break;
    case UNIFORM: ((float *)to)[at] = uniform_float(w[0]); break;
    case UNIFORM_DOUBLE: ((double *)to)[at] = uniform_double(w[0], w[1]); break;
    case NORMAL:
        write_pair(s, uniform_float(w[0]),
                   (float)w[1] * (0x1p-32f * (float)TWO_PI) + 0x1p-32f * (float)TWO_PI / 2,
                   (float *)to + at);
        break;
    case NORMAL_DOUBLE:
        write_pair_double(s, uniform_double(w[0], w[1]), uniform_double(w[2], w[3]),
                          (double *)to + at);
        break;
    case POISSON: ((uint32_t *)to)[at] = poisson(s, w[0] * 0x1p-32 + 0x1p-33); break;
    }
}

void write_mrg(const struct shape *s, struct mrg *g, void *to, size_t at)
{
    double u = s->distribution != WORDS ? uniform_mrg(g) : 0;
    switch (s->distribution) {
    case WORDS: ((uint32_t *)to)[at] = (uint32_t)(mrg_next(g) * 1.000000048662); break;
    case UNIFORM: ((float *)to)[at] = (float)u; break;
    case UNIFORM_DOUBLE: ((double *)to)[at] = u; break;
    case NORMAL:
        write_pair(s, (float)u, (float)uniform_mrg(g) * (float)TWO_PI, (float *)to + at);
        break;
    case NORMAL_DOUBLE: write_pair_double(s, u, uniform_mrg(g), (double *)to + at); break;
    case POISSON: ((uint32_t *)to)[at] = poisson(s, u); break;
    }
}

void write_quasi(const struct shape *s, uint32_t word, void *to, size_t at)
{
    double u = word * 0x1p-32 + 0x1p-33;
    switch (s->distribution) {
    case UNIFORM_DOUBLE: ((double *)to)[at] = word * 0x1p-32 + 0x1p-32; break;
    case NORMAL: ((float *)to)[at] = shaped_float(s, (float)inverse_normal(u)); break;
    case NORMAL_DOUBLE: ((double *)to)[at] = shaped(s, inverse_normal(u)); break;
    default: write_words(s, &word, to, at);
    }
}
