/* judge.c — see judge.h. */
#include "judge.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define LOOP_ROUNDOFF 0x1p-63L /* of long double, twice */

enum element many_element(enum many_op op)
{
    static const enum element of[MANY_OPS] = {[MANY_SUM_F32] = ELEMENT_F32,
                                              [MANY_SUM_F64] = ELEMENT_F64,
                                              [MANY_SUM_I32] = ELEMENT_I32,
                                              [MANY_SUM_I64] = ELEMENT_I64,
                                              [MANY_AFFINE_F32] = ELEMENT_F32};
    return of[op];
}

/* ---- the loop -------------------------------------------------------------------------------- */

struct reference reference_begin(void)
{
    return (struct reference){.whole = true, .least = INFINITY, .run = 1, .product = 1};
}

/* value + x, and what rounding loses (Knuth's TwoSum). */
static void add(struct wide_sum *s, long double x)
{
    long double sum = s->sum + x, part = sum - s->sum;
    s->lost += (s->sum - (sum - part)) + (x - part);
    s->sum = sum;
}

static void take_real(struct reference *r, long double x, long double exact_most)
{
    if (!isfinite(x)) {
        r->special += x;
        r->whole = false;
        return;
    }
    long double size = fabsl(x);
    add(&r->sum, x);
    r->magnitude += size;
    r->low = fminl(r->low, r->sum.sum);
    r->high = fmaxl(r->high, r->sum.sum);
    r->whole = r->whole && size <= exact_most && x == (long double)(int64_t)x;
    if (size > 0 && (double)size < r->least) r->least = (double)size;
}

static void take_affine(struct reference *r, long double a, long double b)
{
    long double size = fabsl(a), u = (long double)element_roundoff(ELEMENT_F32);
    if (!r->infinite && !(isfinite(a) && isfinite(b))) {
        r->infinite = true;
        r->infinite_at = r->count;
    }
    r->run = fmaxl(1, size > 0 ? r->run * size : r->run);
    r->product = fmaxl(r->product, r->run);
    r->addends += fabsl(b);
    r->error = size * ((1 + u) * r->error + u * r->magnitude);
    r->sum.sum = a * r->sum.sum + b;
    r->magnitude = size * r->magnitude + fabsl(b);
    r->high = fmaxl(r->high, r->magnitude);
}

/* Element i of some. */
static void take(struct reference *r, enum many_op op, const void *in, const void *in2, size_t i)
{
    switch (op) {
    case MANY_SUM_I32: r->integer += (uint64_t)(int64_t)((const int32_t *)in)[i]; break;
    case MANY_SUM_I64: r->integer += ((const uint64_t *)in)[i]; break;
    case MANY_SUM_F32: take_real(r, (long double)((const float *)in)[i], 0x1p24L); break;
    case MANY_SUM_F64: take_real(r, (long double)((const double *)in)[i], 0x1p53L); break;
    default:
        take_affine(r, (long double)((const float *)in)[i], (long double)((const float *)in2)[i]);
    }
    r->count++;
}

void reference_pass(struct reference *r, enum many_op op, const void *in, const void *in2,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) take(r, op, in, in2, i);
}

int reference_check(const struct reference *r, enum many_op op, struct fault *fault)
{
    struct facts facts = {.magnitude = r->magnitude};
    if (op != MANY_AFFINE_F32) return facts_check(&facts, many_element(op), fault);
    if (r->infinite)
        return fail(fault, EXIT_USAGE,
                    "a or b of element %zu is not finite; affine needs finite ones.",
                    r->infinite_at);
    /* A result is at most the largest product times the sum of all |b|. */
    if (r->product * (r->addends + 1) < FLT_MAX / 2) return 0;
    return fail(fault, EXIT_USAGE,
                "products of neighbours of a reach %.3Lg, and |b| sum to %.3Lg, so results may "
                "leave the range of floats; scale them down.",
                r->product, r->addends);
}

/* ---- comparing ------------------------------------------------------------------------------- */

void judge_begin(struct judge *j, const struct reference *before)
{
    j->at = *before;
    j->done = 0;
    j->verdict = (struct verdict){.right = true, .exact = true, .least = INFINITY};
}

/* The next result is wrong. NULL: enough of them are shown; otherwise the caller fills in
 * `want`. */
static struct mismatch *note(struct judge *j, const void *out, size_t i)
{
    struct verdict *v = &j->verdict;
    v->right = false;
    v->wrong++;
    if (v->shown == VERIFY_SHOWN) return NULL;
    struct mismatch *m = &v->first[v->shown++];
    m->index = j->first + j->done;
    element_text(many_element(j->op), out, i, m->got, sizeof m->got);
    return m;
}

static void expect_integer(struct judge *j, const void *out, size_t i)
{
    enum element element = many_element(j->op);
    const void *want = &j->at.integer;
    uint32_t narrow = (uint32_t)j->at.integer;
    bool same = element == ELEMENT_I32 ? ((const uint32_t *)out)[i] == narrow
                                       : ((const uint64_t *)out)[i] == j->at.integer;
    if (same) return;
    struct mismatch *m = note(j, out, i);
    if (element == ELEMENT_I32) want = &narrow;
    if (m) element_text(element, want, 0, m->want, sizeof m->want);
}

/* A result may differ from `want` by `bound`. */
static void expect_real(struct judge *j, const void *out, size_t i, long double want,
                        long double bound)
{
    struct verdict *v = &j->verdict;
    bool narrow = many_element(j->op) == ELEMENT_F32;
    long double got =
        narrow ? (long double)((const float *)out)[i] : (long double)((const double *)out)[i];
    long double error = fabsl(got - want);
    bool right = isnan(want) ? isnan(got) : isinf(want) ? got == want : error <= bound;
    if (!right) {
        struct mismatch *m = note(j, out, i);
        if (m) snprintf(m->want, sizeof m->want, narrow ? "%.9Lg" : "%.17Lg", want);
        return;
    }
    if (!isfinite(want) || bound == 0) return;
    v->exact = false;
    if (bound > (long double)v->bound) v->bound = (double)bound;
    if (error / bound > (long double)v->worst) v->worst = (double)(error / bound);
}

static long double growth_of(const struct judge *j)
{
    return expm1l((long double)j->depth *
                  log1pl((long double)element_roundoff(many_element(j->op))));
}

static void expect_sum(struct judge *j, const void *out, size_t i, long double growth)
{
    const struct reference *r = &j->at;
    /* A sum of neighbours is the difference of two running sums. */
    long double most = element_exact_max(many_element(j->op));
    bool exact = r->whole && r->high - r->low <= most;
    long double want = r->sum.sum + r->sum.lost + r->special;
    long double loop = LOOP_ROUNDOFF * fabsl(want);
    expect_real(j, out, i, want, exact ? 0 : growth * r->magnitude + loop);
}

static void expect_affine(struct judge *j, const void *out, size_t i, long double growth)
{
    const struct reference *r = &j->at;
    long double count = (long double)r->count;
    /* Products that are too small for the type, or for a normal number, differ by less than this
     * from exact ones. */
    long double u = (long double)element_roundoff(ELEMENT_F32);
    long double small = u * (long double)FLT_MIN * count * (1 + r->high);
    long double loop = count * LOOP_ROUNDOFF * r->magnitude;
    long double bound = growth * (r->magnitude + r->error) + r->error + loop;
    expect_real(j, out, i, r->sum.sum, r->count ? bound + 4 * small : 0);
}

void judge_piece(struct judge *j, const void *out, size_t count)
{
    long double growth = growth_of(j);
    for (size_t i = 0; i < count; i++, j->done++) {
        if (j->inclusive) take(&j->at, j->op, j->in, j->in2, j->done);
        if (j->op == MANY_AFFINE_F32)
            expect_affine(j, out, i, growth);
        else if (element_is_real(many_element(j->op)))
            expect_sum(j, out, i, growth);
        else
            expect_integer(j, out, i);
        if (!j->inclusive) take(&j->at, j->op, j->in, j->in2, j->done);
    }
    j->verdict.checked += count;
    j->verdict.least = j->at.least;
}
