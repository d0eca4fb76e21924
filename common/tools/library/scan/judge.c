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
#include "common/files/allocated.h"
#include "shape.h"
#include "steps/16-operators/request.h"

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

static bool by_columns(const struct request *r) { return r->rows && r->along == 0; }

static double depth_of(const struct request *r, size_t n)
{
    if (by_columns(r)) return COLUMN_STEPS + (double)(r->rows / COLUMN_WINDOW_ROWS + 1);
    return SEQUENCE_STEPS + (double)(n / WINDOW_LEAST + 1);
}

/* ---- one sequence ---------------------------------------------------------------------------- */

/* All results of one run. */
struct judge {
    const struct request *request;
    enum operator_kind op;
    bool real;
    struct verdict *verdict;
    struct findings *found;
    const void *in, *out;
    size_t n;
    double u, depth;
    long double growth;     /* (1 + u)^depth - 1 */
    long double exact_most; /* whole numbers up to here are exact */
};

/* The loop over a sequence: what it has after some of its elements. */
struct state {
    size_t count;          /* elements so far, with the initial value */
    bool whole;            /* all are whole numbers, or powers of two */
    uint64_t integer;      /* of integers, modulo 2^64 */
    long double value;     /* the result; logsumexp: the largest element; sight: slope */
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

static void take_integer(const struct judge *j, struct state *s, uint64_t x)
{
    switch (j->op) {
    case OP_PRODUCT: s->integer *= x; break;
    case OP_XOR: s->integer ^= x; break;
    case OP_MAX: s->integer = (int64_t)s->integer > (int64_t)x ? s->integer : x; break;
    case OP_MIN: s->integer = (int64_t)s->integer < (int64_t)x ? s->integer : x; break;
    default: s->integer += x;
    }
}

/* The kind of a bracket, from 1 on; above 0 if it opens, below 0 if it closes; 0: no bracket. */
static int bracket_kind(char c)
{
    static const char opening[] = "([{", closing[] = ")]}";
    const char *opens = c ? strchr(opening, c) : NULL, *closes = c ? strchr(closing, c) : NULL;
    return opens ? (int)(opens - opening) + 1 : closes ? -(int)(closes - closing) - 1 : 0;
}

static void take_bracket(struct state *s, int kind)
{
    if (kind > 0) s->opening++;
    if (kind < 0 && s->opening == 0) s->closing++;
    if (kind < 0 && s->opening > 0) s->opening--;
}

/* expl takes long, and floats need no more than exp. */
static long double exponential(const struct judge *j, long double x)
{
    return j->request->element == ELEMENT_F32 ? (long double)exp((double)x) : expl(x);
}

static void take_exponent(const struct judge *j, struct state *s, long double x)
{
    if (isnan(x) || isnan(s->value)) {
        s->value = NAN;
    } else if (x == s->value) {
        s->magnitude += x > -INFINITY; /* the difference of infinities would be NaN */
    } else if (x > s->value) {
        s->magnitude = s->magnitude * exponential(j, s->value - x) + 1;
        s->value = x;
    } else {
        s->magnitude += exponential(j, x - s->value);
    }
}

static void take_map(const struct judge *j, struct state *s, long double a, long double b)
{
    long double size = fabsl(a), u = (long double)j->u;
    s->count++;
    s->error = size * ((1 + u) * s->error + u * s->magnitude);
    s->value = a * s->value + b;
    s->magnitude = size * s->magnitude + fabsl(b);
    s->high = fmaxl(s->high, s->magnitude);
}

/* An element, or an initial value. */
static void take_real(const struct judge *j, struct state *s, long double x)
{
    int exponent;
    s->count++;
    switch (j->op) {
    case OP_MAX: /* the first NaN stays, and of -0 and +0 the later one counts */
        if (!isnan(s->value) && !(s->value > x)) s->value = x;
        break;
    case OP_MIN:
        if (!isnan(s->value) && !(s->value < x)) s->value = x;
        break;
    case OP_PRODUCT:
        s->value *= x;
        s->whole = s->whole && (x == 0 || fabsl(frexpl(x, &exponent)) == 0.5L);
        break;
    case OP_LOGSUMEXP: take_exponent(j, s, x); break;
    default:
        s->value += x;
        s->magnitude += fabsl(x);
        s->low = fminl(s->low, s->value);
        s->high = fmaxl(s->high, s->value);
        s->whole = s->whole && fabsl(x) <= j->exact_most && x == (long double)(int64_t)x;
    }
}

/* Line of sight: of floats, as on the GPU. */
static float slope_at(const struct judge *j, size_t i)
{
    const float *heights = j->in, *distances = j->request->second_input;
    float slope = (heights[i] - j->request->eye) / distances[i];
    return distances[i] > 0 && slope == slope ? slope : -INFINITY;
}

static void take(const struct judge *j, struct state *s, size_t i)
{
    const struct request *r = j->request;
    switch (j->op) {
    case OP_BRACKETS: take_bracket(s, bracket_kind(((const char *)j->in)[i])); break;
    case OP_SIGHT: s->value = fmaxl(s->value, (long double)slope_at(j, i)); break;
    case OP_AFFINE:
        take_map(j, s, real_at(r->element, j->in, i), real_at(r->element, r->second_input, i));
        break;
    case OP_EMA:
    case OP_DISCOUNT:
        take_map(j, s, (long double)r->keep,
                 (long double)r->take * real_at(r->element, j->in, i));
        break;
    default:
        if (j->real)
            take_real(j, s, real_at(r->element, j->in, i));
        else
            take_integer(j, s, integer_at(r->element, j->in, i));
    }
}

static void begin(const struct judge *j, struct state *s)
{
    const struct request *r = j->request;
    const void *initial = &r->initial_value;
    uint64_t most = (uint64_t)(r->element == ELEMENT_I32 ? INT32_MAX : INT64_MAX);
    *s = (struct state){.whole = true};
    switch (j->op) {
    case OP_PRODUCT: s->value = 1, s->integer = 1; break;
    case OP_MIN: s->value = INFINITY, s->integer = most; break;
    case OP_MAX: s->integer = ~most; /* fall through */
    case OP_LOGSUMEXP:
    case OP_SIGHT: s->value = -INFINITY; break;
    default: break;
    }
    if (!r->initial) return;
    if (j->op == OP_BRACKETS)
        s->opening = *(const int32_t *)initial;
    else if (j->op == OP_AFFINE || j->op == OP_EMA || j->op == OP_DISCOUNT)
        take_map(j, s, 0, real_at(r->result, initial, 0));
    else if (j->real)
        take_real(j, s, real_at(r->result, initial, 0));
    else
        take_integer(j, s, integer_at(r->result, initial, 0));
}

/* ---- one result ------------------------------------------------------------------------------ */

static long double bound_of(const struct judge *j, const struct state *s, long double want)
{
    const double EXP_ULPS = 2, LOG_ULPS = 1; /* an ulp is at most 2 u */
    bool narrow = j->request->element == ELEMENT_F32;
    long double count = (long double)s->count, u = (long double)j->u;
    long double loop = count * LOOP_ROUNDOFF * s->magnitude;
    switch (j->op) {
    case OP_PRODUCT: return s->whole ? 0 : expm1l(count * (u + LOOP_ROUNDOFF)) * fabsl(want);
    case OP_LOGSUMEXP: {
        double most = (double)(want - s->value);
        double units = j->depth * (2 * EXP_ULPS + 2) + most + 2 + 2 * LOG_ULPS * most;
        loop = count * (narrow ? 0x1p-51L : 0x1p-62L);
        return 1.01L * (u * (long double)units + loop + u * fabsl(want));
    }
    case OP_AFFINE:
    case OP_EMA:
    case OP_DISCOUNT: {
        /* Products that are too small for the type, or for a normal number, differ by less than
         * this from exact ones. */
        long double least = narrow ? (long double)FLT_MIN : (long double)DBL_MIN;
        long double small = u * least * count * (1 + s->high);
        if (s->count == 0) return 0;
        return j->growth * (s->magnitude + s->error) + s->error + loop + 4 * small;
    }
    default: /* a sum of neighbours is the difference of two running sums */
        if (s->whole && s->high - s->low <= j->exact_most) return 0;
        return j->growth * s->magnitude + loop;
    }
}

/* An extreme of floats: -0 and +0 differ. */
static void compare_extreme(struct judge *j, size_t i, long double want)
{
    enum element result = j->request->result;
    long double got = real_at(result, j->out, i);
    bool same = isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want);
    if (!same) verdict_note_real(j->verdict, i, result, j->out, i, want);
}

static void compare(struct judge *j, const struct state *s, size_t i)
{
    uint64_t integer = s->integer;
    long double want = s->value;
    if (j->op == OP_BRACKETS) integer = (uint64_t)(s->closing ? -s->closing : s->opening);
    if (j->op == OP_SIGHT) {
        integer = (long double)slope_at(j, i) > s->value;
        j->found->visible += integer;
    }
    if (!j->real) {
        verdict_compare_integer(j->verdict, i, j->request->result, j->out, i, integer);
    } else if (j->op == OP_MAX || j->op == OP_MIN) {
        compare_extreme(j, i, want);
    } else {
        bool narrow = j->request->element == ELEMENT_F32, logs = j->op == OP_LOGSUMEXP;
        if (logs && isfinite(want))
            want += narrow ? (long double)log((double)s->magnitude) : logl(s->magnitude);
        verdict_compare_real(j->verdict, i, j->request->result, j->out, i, want,
                             isfinite(want) ? bound_of(j, s, want) : 0);
    }
}

/* ---- all sequences --------------------------------------------------------------------------- */

static struct text_place text_place_of(const void *text, size_t i)
{
    struct text_place place = {1, 1};
    for (size_t k = 0; k < i; k++) {
        unsigned char c = ((const unsigned char *)text)[k];
        place.column += (c & 0xC0) != 0x80; /* a character of UTF-8 begins */
        if (c == '\n') place.line++, place.column = 1;
    }
    return place;
}

static void judge_element(struct judge *j, struct state *s, size_t i)
{
    struct findings *f = j->found;
    int64_t closing = s->closing;
    if (!j->request->inclusive) compare(j, s, i);
    take(j, s, i);
    if (s->opening > 0 && (size_t)s->opening > f->greatest) f->greatest = (size_t)s->opening;
    if (s->closing > closing && !f->wrong) f->wrong_at = text_place_of(j->in, i), f->wrong = true;
    if (j->request->inclusive) compare(j, s, i);
}

#define COLUMNS_TOGETHER 256 /* memory is read row by row */

/* Other sequences than columns are in one column. */
static void judge_sequences(struct judge *j)
{
    const struct request *r = j->request;
    struct state states[COLUMNS_TOGETHER];
    size_t columns = by_columns(r) ? r->columns : 1, rows = j->n / columns;
    for (size_t first = 0; first < columns; first += COLUMNS_TOGETHER) {
        size_t left = columns - first, width = left < COLUMNS_TOGETHER ? left : COLUMNS_TOGETHER;
        for (size_t q = 0; q < rows; q++) {
            size_t row = (r->reverse ? rows - 1 - q : q) * columns + first;
            bool begins = by_columns(r) ? q == 0 : operators_is_first(r, row, j->n);
            for (size_t c = 0; c < width; c++) {
                if (begins && q > 0) j->found->open += (size_t)states[c].opening;
                if (begins) begin(j, &states[c]);
                judge_element(j, &states[c], row + c);
            }
        }
        for (size_t c = 0; c < width; c++) j->found->open += (size_t)states[c].opening;
    }
}

/* ---- partners -------------------------------------------------------------------------------- */

/* The bracket at `closing` closes the one at `opening`. */
static void note_pair(struct findings *f, const char *text, size_t opening, size_t closing)
{
    f->pairs++;
    if (f->mixed || bracket_kind(text[opening]) == -bracket_kind(text[closing])) return;
    f->mixed = true;
    f->mixed_opening = text[opening], f->opening_at = text_place_of(text, opening);
    f->mixed_closing = text[closing], f->closing_at = text_place_of(text, closing);
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

static void judge_partners(struct judge *j)
{
    const int32_t *partner = j->out;
    int32_t *want = allocated(malloc(j->n * sizeof *want));
    find_partners(j->found, want, j->in, j->n);
    for (size_t i = 0; i < j->n; i++)
        if (partner[i] != want[i])
            verdict_note_element(j->verdict, i, ELEMENT_I32, partner, i, &want[i]);
    free(want);
}

void operators_judge(struct request *r, const struct problem *p, const void *out,
                     struct verdict *v)
{
    bool decays = r->plain == OP_EMA || r->plain == OP_DISCOUNT;
    struct judge j = {.request = r,
                      .op = r->plain,
                      .real = element_is_real(r->result),
                      .verdict = v,
                      .found = &r->found,
                      .in = p->in,
                      .out = out,
                      .n = p->n,
                      .u = element_roundoff(r->element),
                      .depth = depth_of(r, p->n),
                      .exact_most = element_exact_max(r->element)};
    j.growth = expm1l(((long double)j.depth + decays) * (long double)j.u);
    v->least = element_is_real(r->element) ? facts_of(p).least : 1; /* for the report */
    r->found = (struct findings){0};
    if (r->partners)
        judge_partners(&j);
    else
        judge_sequences(&j);
}
