/* judge.c — compares the results of a part with those of a loop over all elements. */
#include "request.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define U_FLOAT  0x1p-24 /* unit roundoffs */
#define U_DOUBLE 0x1p-53

/* In the order of enum many_op. */
const enum element many_element[MANY_OPS] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32, ELEMENT_I64,
                                             ELEMENT_F32};

/* ---- the loop -------------------------------------------------------------------------------- */

struct reference reference_begin(void)
{
    return (struct reference){.whole = true, .least = INFINITY, .run = 1, .product = 1};
}

static double larger(double a, double b) { return a > b ? a : b; }

static double smaller(double a, double b) { return a < b ? a : b; }

/* The sum has twice the digits of a double, since what rounding loses is added up, too (Knuth's
 * TwoSum). */
static void take_real(struct reference *r, double x, double exact_most)
{
    double size = fabs(x), sum = r->sum + x, part = sum - r->sum;
    if (!(size <= DBL_MAX)) {
        r->special += x;
        r->whole = false;
        return;
    }
    r->lost += (r->sum - (sum - part)) + (x - part);
    r->sum = sum;
    r->magnitude += size;
    r->low = smaller(r->low, r->sum);
    r->high = larger(r->high, r->sum);
    r->whole = r->whole && size <= exact_most && x == (double)(int64_t)x;
    if (size > 0 && size < r->least) r->least = size;
}

static void take_affine(struct reference *r, double a, double b)
{
    double size = fabs(a), added = fabs(b);
    r->run = size > 0 ? larger(1, r->run * size) : r->run;
    r->product = larger(r->product, r->run);
    r->addends += added + 0 * size; /* no number, if a is not finite */
    r->error = size * ((1 + U_FLOAT) * r->error + U_FLOAT * r->magnitude);
    r->sum = a * r->sum + b;
    r->magnitude = size * r->magnitude + added;
    r->high = larger(r->high, r->magnitude);
}

/* Element i of some. */
static void take(struct reference *r, enum many_op op, const void *in, const void *in2, size_t i)
{
    switch (op) {
    case MANY_SUM_I32: r->integer += (uint64_t)(int64_t)((const int32_t *)in)[i]; break;
    case MANY_SUM_I64: r->integer += ((const uint64_t *)in)[i]; break;
    case MANY_SUM_F32: take_real(r, (double)((const float *)in)[i], 0x1p24); break;
    case MANY_SUM_F64: take_real(r, ((const double *)in)[i], 0x1p53); break;
    default: take_affine(r, (double)((const float *)in)[i], (double)((const float *)in2)[i]);
    }
    r->count++;
}

void reference_pass(struct reference *r, enum many_op op, const void *in, const void *in2,
                    size_t count)
{
    struct reference at = *r; /* in registers */
    for (size_t i = 0; i < count; i++) take(&at, op, in, in2, i);
    *r = at;
}

int reference_check(const struct reference *r, enum many_op op, struct fault *fault)
{
    struct facts facts = {.magnitude = (long double)r->magnitude};
    if (op != MANY_AFFINE_F32) return facts_check(&facts, many_element[op], fault);
    /* A result is at most the largest product times the sum of all |b|. */
    if (r->product * (r->addends + 1) < FLT_MAX / 2) return 0;
    return fail(fault, EXIT_USAGE,
                "products of neighbours of a reach %.3g, and |b| sum to %.3g, so results may "
                "leave the range of floats; scale them down.",
                r->product, r->addends);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* By how much a result may differ. growth: (1 + u)^d - 1. */
static double bound_of(const struct reference *r, enum many_op op, double growth)
{
    if (op == MANY_AFFINE_F32) {
        /* Products that are too small for the type, or for a normal number, differ by less than
         * this from exact ones. */
        double small = U_FLOAT * FLT_MIN * (double)r->count * (1 + r->high);
        /* The loop rounds as the scan does, in a type with a u that is smaller by 2^-29, and also
         * after the addition. */
        double loop = 0x1p-26 * r->error + 4 * U_DOUBLE * r->magnitude;
        return growth * (r->magnitude + r->error) + r->error + loop + 4 * small;
    }
    /* A sum of neighbours is the difference of two running sums. */
    if (r->whole && r->high - r->low <= (op == MANY_SUM_F32 ? 0x1p24 : 0x1p53)) return 0;
    /* The magnitude is a sum of doubles, which may be too small by count u. */
    return growth * (1 + (double)r->count * U_DOUBLE) * r->magnitude;
}

void judge_part(const struct request *r, bool inclusive, const void *in, const void *out,
                struct verdict *v)
{
    struct reference at = r->before;
    enum element element = many_element[r->op];
    bool real = element_is_real(element), exscan = r->exchange == EXCHANGE_EXSCAN;
    double depth = many_depth(r->n) + (exscan ? r->ranks.count : 0);
    double growth = expm1(depth * log1p(element_roundoff(element)));
    for (size_t i = 0; i < r->part.count; i++) {
        if (inclusive) take(&at, r->op, in, r->more.data, i);
        long double want = (long double)at.sum + (long double)at.lost + (long double)at.special;
        double bound = real && at.count ? bound_of(&at, r->op, growth) : 0;
        if (real)
            verdict_compare_real(v, r->part.begin + i, element, out, i, want, (long double)bound);
        else
            verdict_compare_integer(v, r->part.begin + i, element, out, i, at.integer);
        if (!inclusive) take(&at, r->op, in, r->more.data, i);
    }
    v->least = at.least;
}

void judge_add(struct verdict *v, const struct verdict *next)
{
    if (v->right) {
        memcpy(v->first, next->first, sizeof v->first);
        v->shown = next->shown;
    }
    v->right = v->right && next->right;
    v->exact = v->exact && next->exact;
    v->checked += next->checked;
    v->wrong += next->wrong;
    v->worst = larger(v->worst, next->worst);
    v->bound = larger(v->bound, next->bound);
    v->least = smaller(v->least, next->least);
}
