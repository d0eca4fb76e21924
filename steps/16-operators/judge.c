/*
 * judge.c — compares each result with that of a loop over its sequence.
 *
 * Integers, max, min, brackets and line of sight have to be equal. So do sums of whole numbers and
 * products of powers of two if the type holds every sum or product of neighbours. Elsewhere a
 * result may differ by what rounding does in the scan's tree. u is the unit roundoff, and d the
 * depth of the tree: the most combinations between an element and a result. The bounds:
 *
 *   sum        ((1 + u)^d - 1) (|x0| + … + |xi|). Each element goes through at most d additions
 *              (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
 *   product    ((1 + u)^i - 1) |x0 · … · xi|: i products in any order.
 *   affine     (1 + u)^d h'' - h'. h' is the result for |a| and |b|, h'' that for (1 + u) |a| and
 *              |b|. An element b goes through at most d fused multiply-adds, and is multiplied by a
 *              product of some factors a, with a rounding for each factor. decay: d + 1, since
 *              take x is rounded, too.
 *   logsumexp  u (6 d + 3 log i + 2 + |result|). The sum of exponentials is at least 1. Each of
 *              them is scaled at most d times, by an exp of 2 ulp (CUDA C++ Programming Guide,
 *              mathematical functions: expf 2 ulp, exp 1 ulp) and a product, and goes into a sum.
 *              An argument of exp is rounded; all those of an element add up to its distance from
 *              the largest one. The mean of these distances, weighted by the exponentials, is at
 *              most log i. logf and log: 1 ulp.
 *              For floats exp is 2^(x log2 e), by the instruction ex2.approx. On an H200 it is
 *              wrong by at most 2.42 u for all floats from -126 to 0 (experiments/approximate.cu).
 *              The bound in NVIDIA's PTX ISA (ex2) is larger, so another GPU may exceed this one.
 *              With 2.42 u, 1.58 d is left. The argument is rounded twice and log2 e once, which
 *              takes 1.22 log i of it.
 *              In a segment of near.cuh, elements are scaled once, by exponentials whose arguments
 *              are below NEAR = 20, and so is what lies before them, which has been scaled in at
 *              most d - 9 combinations. The sum may be as small as exp(-NEAR), and its logarithm
 *              wrong by 1.05 NEAR + 2.8. So all errors are at most 4.42 (d - 9) + 2.22 NEAR +
 *              1.05 NEAR + 1.44 log i + 8, beside |result| and what is in 3 log i. That is within
 *              6 d + 2: d is at least 34, and log i at most 14 until d is 50.
 *
 * The loop itself uses long double, and double for logsumexp of floats. Its error is added.
 */
#include "common/harness/verify/verify.h"
#include "common/tools/library/scan/shape.h"
#include "request.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOP_ROUNDOFF 0x1p-63L /* of long double, twice; for each element of a sequence */

/* ---- the depth ------------------------------------------------------------------------------- */

/* columns.cuh: a lane combines up to 32 accesses, after up to 5 steps among the rows of one; then
 * come 8 warps, 16 tiles of a window, the windows before, and 6 more. A window has at least 8
 * accesses of 8 warps in 16 tiles. */
enum {
    COLUMN_STEPS = 32 + 5 + 8 + 16 + 6,
    COLUMN_WINDOW_ROWS = 8 * 8 * 16,
};

/* segment.cuh: vectors of at most 4 elements, rows and lanes of a segment, segments
 * of a tile, the tiles of a window as 4 and 32, the windows before, and 6 more. */
enum {
    SEQUENCE_STEPS = 3 + MANY_ROWS + 5 + 3 + 3 + 5 + 6,
    WINDOW_LEAST = WINDOW * SEGMENTS * MANY_ROWS * LANES /* elements, if each has 16 bytes */
};

static double depth_of(const struct request *r, size_t n)
{
    if (r->rows && r->along == 0) return COLUMN_STEPS + (double)(r->rows / COLUMN_WINDOW_ROWS + 1);
    return SEQUENCE_STEPS + (double)(n / WINDOW_LEAST + 1);
}

/* ---- one sequence ---------------------------------------------------------------------------- */

/* All results of one run. */
struct judge {
    const struct request *request;
    struct verdict *verdict;
    struct findings *found;
    enum element element, result;
    const void *in, *second, *out;
    size_t n;
    struct decay decay;
    double u, depth;
    long double growth;   /* (1 + u)^depth - 1 */
    double exact_most;    /* whole numbers up to here are exact */
    struct state *states; /* of columns that are looked at together */
};

/* The loop over a sequence: what it has after some of its elements. */
struct state {
    size_t count;          /* elements so far, with the initial value */
    bool whole;            /* all are whole numbers, or powers of two */
    uint64_t integer;      /* sum, product, xor: modulo 2^64 */
    long double value;     /* the result */
    long double magnitude; /* the same of the magnitudes; logsumexp: sum of the exponentials */
    long double error;     /* affine: h'' - h' */
    long double low, high; /* sum: the least and the largest running sum; affine: largest h' */
    int64_t closing, opening;
};

static long double real_at(enum element element, const void *array, size_t i)
{
    return element == ELEMENT_F32 ? (long double)((const float *)array)[i]
                                  : (long double)((const double *)array)[i];
}

static uint64_t integer_at(enum element element, const void *array, size_t i)
{
    switch (element) {
    case ELEMENT_I32: return (uint64_t)(int64_t)((const int32_t *)array)[i];
    case ELEMENT_U32: return ((const uint32_t *)array)[i];
    default: return ((const uint64_t *)array)[i];
    }
}

static void expect_integer(struct judge *j, size_t i, uint64_t want)
{
    verdict_compare_integer(j->verdict, i, j->result, j->out, i, want);
}

static void expect_real(struct judge *j, size_t i, long double want, long double bound)
{
    verdict_compare_real(j->verdict, i, j->result, j->out, i, want, bound);
}

/* ---- operators: begin a sequence, take an element, compare a result -------------------------- */

typedef void begin_fn(const struct judge *, struct state *);
typedef void take_fn(const struct judge *, struct state *, size_t i);
typedef void compare_fn(struct judge *, const struct state *, size_t i);

struct steps {
    begin_fn *begin;
    take_fn *take;
    compare_fn *compare;
};

static const void *initial(const struct judge *j)
{
    return j->request->initial ? &j->request->initial_value : NULL;
}

static long double loop_error(const struct state *s)
{
    return (long double)s->count * LOOP_ROUNDOFF * s->magnitude;
}

/* sum, product and xor of integers */

static void begin_integer(const struct judge *j, struct state *s)
{
    *s = (struct state){.integer = j->request->plain == OP_PRODUCT};
    if (initial(j)) s->integer = integer_at(j->result, initial(j), 0);
}

static void take_integer(const struct judge *j, struct state *s, size_t i)
{
    uint64_t x = integer_at(j->element, j->in, i);
    if (j->request->plain == OP_SUM) s->integer += x;
    if (j->request->plain == OP_PRODUCT) s->integer *= x;
    if (j->request->plain == OP_XOR) s->integer ^= x;
}

static void compare_integer(struct judge *j, const struct state *s, size_t i)
{
    expect_integer(j, i, s->integer);
}

/* max and min of integers */

static void begin_extreme(const struct judge *j, struct state *s)
{
    bool largest = j->request->plain == OP_MAX, narrow = j->element == ELEMENT_I32;
    int64_t least = narrow ? INT32_MIN : INT64_MIN, most = narrow ? INT32_MAX : INT64_MAX;
    *s = (struct state){.integer = (uint64_t)(largest ? least : most)};
    if (initial(j)) s->integer = integer_at(j->result, initial(j), 0);
}

static void take_extreme(const struct judge *j, struct state *s, size_t i)
{
    int64_t x = (int64_t)integer_at(j->element, j->in, i), best = (int64_t)s->integer;
    if (j->request->plain == OP_MAX ? x > best : x < best) s->integer = (uint64_t)x;
}

/* max and min of floats: the first NaN stays, and of -0 and +0 the later one counts */

static void absorb_extreme(const struct judge *j, struct state *s, long double x)
{
    if (isnan(s->value)) return;
    if (!(j->request->plain == OP_MAX ? s->value > x : s->value < x)) s->value = x;
}

static void begin_real_extreme(const struct judge *j, struct state *s)
{
    *s = (struct state){.value = j->request->plain == OP_MAX ? -INFINITY : INFINITY};
    if (initial(j)) absorb_extreme(j, s, real_at(j->result, initial(j), 0));
}

static void take_real_extreme(const struct judge *j, struct state *s, size_t i)
{
    absorb_extreme(j, s, real_at(j->element, j->in, i));
}

static void compare_real_extreme(struct judge *j, const struct state *s, size_t i)
{
    long double got = real_at(j->result, j->out, i);
    bool same =
        isnan(s->value) ? isnan(got) : got == s->value && !signbit(got) == !signbit(s->value);
    if (!same) verdict_note_real(j->verdict, i, j->result, j->out, i, s->value);
}

/* sum of floats */

static void absorb_sum(const struct judge *j, struct state *s, long double x)
{
    s->count++;
    s->value += x;
    s->magnitude += fabsl(x);
    s->low = fminl(s->low, s->value);
    s->high = fmaxl(s->high, s->value);
    s->whole = s->whole && fabsl(x) <= (long double)j->exact_most && x == (long double)(int64_t)x;
}

static void begin_sum(const struct judge *j, struct state *s)
{
    *s = (struct state){.whole = true};
    if (initial(j)) absorb_sum(j, s, real_at(j->result, initial(j), 0));
}

static void take_sum(const struct judge *j, struct state *s, size_t i)
{
    absorb_sum(j, s, real_at(j->element, j->in, i));
}

static void compare_sum(struct judge *j, const struct state *s, size_t i)
{
    /* A sum of neighbours is the difference of two running sums. */
    bool exact = s->whole && s->high - s->low <= (long double)j->exact_most;
    expect_real(j, i, s->value, exact ? 0 : j->growth * s->magnitude + loop_error(s));
}

/* product of floats */

static void absorb_product(struct state *s, long double x)
{
    int exponent;
    s->count++;
    s->value *= x;
    s->whole = s->whole && (x == 0 || fabsl(frexpl(x, &exponent)) == 0.5L);
}

static void begin_product(const struct judge *j, struct state *s)
{
    *s = (struct state){.value = 1, .whole = true};
    if (initial(j)) absorb_product(s, real_at(j->result, initial(j), 0));
}

static void take_product(const struct judge *j, struct state *s, size_t i)
{
    absorb_product(s, real_at(j->element, j->in, i));
}

static void compare_product(struct judge *j, const struct state *s, size_t i)
{
    long double count = (long double)s->count;
    long double growth = s->whole ? 0 : expm1l(count * ((long double)j->u + LOOP_ROUNDOFF));
    expect_real(j, i, s->value, growth * fabsl(s->value));
}

/* affine and decay */

static void absorb_affine(const struct judge *j, struct state *s, long double a, long double b)
{
    long double size = fabsl(a), u = (long double)j->u;
    s->count++;
    s->error = size * ((1 + u) * s->error + u * s->magnitude);
    s->value = a * s->value + b;
    s->magnitude = size * s->magnitude + fabsl(b);
    s->high = fmaxl(s->high, s->magnitude);
}

static void begin_affine(const struct judge *j, struct state *s)
{
    *s = (struct state){0};
    if (initial(j)) absorb_affine(j, s, 0, real_at(j->result, initial(j), 0));
}

static void take_affine(const struct judge *j, struct state *s, size_t i)
{
    absorb_affine(j, s, real_at(j->element, j->in, i), real_at(j->element, j->second, i));
}

static void take_decay(const struct judge *j, struct state *s, size_t i)
{
    absorb_affine(j, s, (long double)j->decay.keep,
                  (long double)j->decay.take * real_at(j->element, j->in, i));
}

static void compare_affine(struct judge *j, const struct state *s, size_t i)
{
    /* Products that are too small for the type, or for a normal number, differ by less than this
     * from exact ones. */
    long double least = j->element == ELEMENT_F32 ? (long double)FLT_MIN : (long double)DBL_MIN;
    long double small = (long double)j->u * least * (long double)s->count * (1 + s->high);
    long double bound = j->growth * (s->magnitude + s->error) + s->error + loop_error(s);
    expect_real(j, i, s->value, s->count ? bound + 4 * small : 0);
}

/* logsumexp: the value is the largest element */

static void absorb_exponential(const struct judge *j, struct state *s, long double x)
{
    bool narrow = j->element == ELEMENT_F32;
    s->count++;
    if (isnan(x) || isnan(s->value)) {
        s->value = NAN;
    } else if (x > s->value) {
        long double scale = narrow ? (long double)exp((double)(s->value - x)) : expl(s->value - x);
        s->magnitude = s->magnitude * scale + 1;
        s->value = x;
    } else if (x == s->value) {
        s->magnitude += x > -INFINITY;
    } else {
        s->magnitude += narrow ? (long double)exp((double)(x - s->value)) : expl(x - s->value);
    }
}

static void begin_logsumexp(const struct judge *j, struct state *s)
{
    *s = (struct state){.value = -INFINITY};
    if (initial(j)) absorb_exponential(j, s, real_at(j->result, initial(j), 0));
}

static void take_logsumexp(const struct judge *j, struct state *s, size_t i)
{
    absorb_exponential(j, s, real_at(j->element, j->in, i));
}

static void compare_logsumexp(struct judge *j, const struct state *s, size_t i)
{
    if (!isfinite(s->value)) {
        expect_real(j, i, s->value, 0);
        return;
    }
    const double EXP_ULPS = 2, LOG_ULPS = 1; /* an ulp is at most 2 u */
    bool narrow = j->element == ELEMENT_F32;
    double count = (double)s->count;
    long double logarithm = narrow ? (long double)log((double)s->magnitude) : logl(s->magnitude);
    long double want = s->value + logarithm;
    double most = (double)logarithm;
    double units = j->depth * (2 * EXP_ULPS + 2) + most + 2 + 2 * LOG_ULPS * most;
    double loop = count * (narrow ? 0x1p-51 : 0x1p-62);
    expect_real(j, i, want,
                1.01L * ((long double)(j->u * units + loop) + (long double)j->u * fabsl(want)));
}

/* brackets */

static void begin_brackets(const struct judge *j, struct state *s)
{
    *s = (struct state){0};
    if (initial(j)) s->opening = (int64_t)integer_at(j->result, initial(j), 0);
}

static void take_brackets(const struct judge *j, struct state *s, size_t i)
{
    char c = ((const char *)j->in)[i];
    if (c == '(' || c == '[' || c == '{') s->opening++;
    if (c != ')' && c != ']' && c != '}') return;
    if (s->opening > 0)
        s->opening--;
    else
        s->closing++;
}

static void compare_brackets(struct judge *j, const struct state *s, size_t i)
{
    expect_integer(j, i, (uint64_t)(s->closing ? -s->closing : s->opening));
}

/* line of sight: the value is the largest slope so far, of floats as on the GPU */

static float slope_at(const struct judge *j, size_t i)
{
    float height = ((const float *)j->in)[i], distance = ((const float *)j->second)[i];
    float slope = (height - j->request->eye) / distance;
    return distance > 0 && slope == slope ? slope : -INFINITY;
}

static void begin_sight(const struct judge *j, struct state *s)
{
    (void)j;
    *s = (struct state){.value = -INFINITY};
}

static void take_sight(const struct judge *j, struct state *s, size_t i)
{
    float slope = slope_at(j, i);
    if (!(s->value > (long double)slope)) s->value = (long double)slope;
}

static void compare_sight(struct judge *j, const struct state *s, size_t i)
{
    bool visible = (long double)slope_at(j, i) > s->value;
    j->found->visible += visible;
    expect_integer(j, i, visible);
}

static struct steps steps_of(enum operator_kind op, enum element element)
{
    static const struct steps integers = {begin_integer, take_integer, compare_integer},
                              extreme = {begin_extreme, take_extreme, compare_integer},
                              real_extreme = {begin_real_extreme, take_real_extreme,
                                              compare_real_extreme},
                              sum = {begin_sum, take_sum, compare_sum},
                              product = {begin_product, take_product, compare_product},
                              affine = {begin_affine, take_affine, compare_affine},
                              decay = {begin_affine, take_decay, compare_affine},
                              logsumexp = {begin_logsumexp, take_logsumexp, compare_logsumexp},
                              brackets = {begin_brackets, take_brackets, compare_brackets},
                              sight = {begin_sight, take_sight, compare_sight};
    bool real = element_is_real(element);
    switch (op) {
    case OP_SUM: return real ? sum : integers;
    case OP_PRODUCT: return real ? product : integers;
    case OP_MAX:
    case OP_MIN: return real ? real_extreme : extreme;
    case OP_LOGSUMEXP: return logsumexp;
    case OP_AFFINE: return affine;
    case OP_EMA:
    case OP_DISCOUNT: return decay;
    case OP_BRACKETS: return brackets;
    case OP_SIGHT: return sight;
    default: return integers;
    }
}

/* ---- all sequences --------------------------------------------------------------------------- */

struct text_place text_place_of(const void *text, size_t i)
{
    struct text_place place = {1, 1};
    for (size_t k = 0; k < i; k++) {
        unsigned char c = ((const unsigned char *)text)[k];
        place.column += (c & 0xC0) != 0x80; /* a character of UTF-8 begins */
        if (c == '\n') place.line++, place.column = 1;
    }
    return place;
}

/* What a text says beside the depths. `was`: before character i. */
static void note_brackets(const struct judge *j, const struct state *s, const struct state *was,
                          size_t i)
{
    struct findings *f = j->found;
    if (s->opening > 0 && (size_t)s->opening > f->greatest) f->greatest = (size_t)s->opening;
    if (f->wrong || s->closing == was->closing) return;
    f->wrong = true;
    f->wrong_at = text_place_of(j->in, i);
}

static void judge_element(struct judge *j, const struct steps *steps, struct state *s, size_t i)
{
    struct state was;
    bool brackets = j->request->plain == OP_BRACKETS;
    if (!j->request->inclusive) steps->compare(j, s, i);
    if (brackets) was = *s;
    steps->take(j, s, i);
    if (brackets) note_brackets(j, s, &was, i);
    if (j->request->inclusive) steps->compare(j, s, i);
}

static void end_sequence(const struct judge *j, const struct state *s)
{
    if (j->request->plain == OP_BRACKETS) j->found->open += (size_t)s->opening;
}

static void judge_sequences(struct judge *j, const struct steps *steps)
{
    struct state s = {0};
    for (size_t q = 0; q < j->n; q++) {
        size_t i = j->request->reverse ? j->n - 1 - q : q;
        if (operators_is_first(j->request, i, j->n)) {
            if (q > 0) end_sequence(j, &s);
            steps->begin(j, &s);
        }
        judge_element(j, steps, &s, i);
    }
    end_sequence(j, &s);
}

#define COLUMNS_TOGETHER 256 /* memory is read row by row */

static void judge_columns(struct judge *j, const struct steps *steps)
{
    const struct request *r = j->request;
    struct state states[COLUMNS_TOGETHER];
    for (size_t first = 0; first < r->columns; first += COLUMNS_TOGETHER) {
        size_t left = r->columns - first, width = left < COLUMNS_TOGETHER ? left : COLUMNS_TOGETHER;
        for (size_t c = 0; c < width; c++) steps->begin(j, &states[c]);
        for (size_t q = 0; q < r->rows; q++) {
            size_t row = r->reverse ? r->rows - 1 - q : q;
            for (size_t c = 0; c < width; c++)
                judge_element(j, steps, &states[c], row * r->columns + first + c);
        }
        for (size_t c = 0; c < width; c++) end_sequence(j, &states[c]);
    }
}

/* For the report: an element that is left out may be as small as this. */
static double smallest(const struct judge *j)
{
    double least = INFINITY;
    if (!element_is_real(j->element)) return 1;
    for (size_t i = 0; i < j->n; i++) {
        double magnitude = fabs((double)real_at(j->element, j->in, i));
        if (magnitude > 0 && magnitude < least) least = magnitude;
    }
    return least;
}

void operators_judge(const struct request *r, const struct problem *p, const void *out,
                     struct verdict *v, struct findings *found)
{
    struct judge j = {.request = r,
                      .verdict = v,
                      .found = found,
                      .element = r->element,
                      .result = r->result,
                      .in = p->in,
                      .second = r->second_input,
                      .out = out,
                      .n = p->n,
                      .decay = operators_decay(r),
                      .u = element_roundoff(r->element),
                      .depth = depth_of(r, p->n),
                      .exact_most = (double)element_exact_max(r->element)};
    bool decays = r->plain == OP_EMA || r->plain == OP_DISCOUNT;
    j.growth = expm1l(((long double)j.depth + decays) * (long double)j.u);
    v->least = smallest(&j);
    *found = (struct findings){0};
    struct steps steps = steps_of(r->plain, r->element);
    if (r->rows && r->along == 0)
        judge_columns(&j, &steps);
    else
        judge_sequences(&j, &steps);
}

/* ---- partners -------------------------------------------------------------------------------- */

/* Compares the partners of brackets with those that a stack finds. */

/* The kind of a bracket, from 1 on; above 0 if it opens, below 0 if it closes; 0: no bracket. */
static int bracket_kind(char c)
{
    switch (c) {
    case '(': return 1;
    case ')': return -1;
    case '[': return 2;
    case ']': return -2;
    case '{': return 3;
    case '}': return -3;
    default: return 0;
    }
}

/* The bracket at `closing` closes the one at `opening`. */
static void note_pair(struct findings *f, const char *text, size_t opening, size_t closing)
{
    f->pairs++;
    if (f->mixed || bracket_kind(text[opening]) == -bracket_kind(text[closing])) return;
    f->mixed = true;
    f->mixed_opening = text[opening];
    f->mixed_closing = text[closing];
    f->opening_at = text_place_of(text, opening);
    f->closing_at = text_place_of(text, closing);
}

/* Fills in partners, with what the text says beside them. The stack lies in `partner`: each bracket
 * that is open has the index of the one that is open around it, or -1. */
static void find_partners(struct findings *f, int32_t *partner, const char *text, size_t n)
{
    int32_t innermost = -1;
    memset(partner, 0xFF, n * sizeof *partner); /* -1 */
    for (size_t i = 0; i < n && !f->wrong; i++) {
        int kind = bracket_kind(text[i]);
        if (kind > 0) {
            partner[i] = innermost;
            innermost = (int32_t)i;
            if (++f->open > f->greatest) f->greatest = f->open;
        } else if (kind < 0 && innermost < 0) {
            f->wrong = true;
            f->wrong_at = text_place_of(text, i);
        } else if (kind < 0) {
            int32_t opening = innermost;
            innermost = partner[opening];
            partner[opening] = (int32_t)i;
            partner[i] = opening;
            f->open--;
            note_pair(f, text, (size_t)opening, i);
        }
    }
    while (innermost >= 0) {
        int32_t around = partner[innermost];
        partner[innermost] = -1;
        innermost = around;
    }
}

void operators_judge_partners(const struct problem *p, const int32_t *partner, struct verdict *v,
                              struct findings *found)
{
    int32_t *want = allocated(malloc(p->n * sizeof *want));
    v->least = 1;
    *found = (struct findings){0};
    find_partners(found, want, p->in, p->n);
    for (size_t i = 0; i < p->n; i++)
        if (partner[i] != want[i]) verdict_note_element(v, i, ELEMENT_I32, partner, i, &want[i]);
    free(want);
}
