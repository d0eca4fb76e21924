/* verify.c — comparing an output with the running sums of its input. */
#include "common/harness/print/print.h"
#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INFLATE (1 + 0x1p-16) /* more than what the additions of a bound round away */

/* ---- running sums ---------------------------------------------------------------------------- */

/* The elements that are being compared, in the widest type. */
struct chunk {
    size_t at, count;                     /* the first one's index, and how many they are */
    bool ahead;                           /* another element follows them */
    long double addend[VERIFY_CHUNK + 1]; /* one more than count: the right neighbour's; or 0 */
    long double sum[VERIFY_CHUNK + 2];    /* of all elements before each */
    long double got[VERIFY_CHUNK];
};

/* Does the output of an element contain its own addend? With a reference, addends are defined
 * so. */
static bool includes_own(const struct problem *p) { return p->inclusive || p->reference; }

/* The expected output k of the chunk. */
static long double wanted(const struct verifier *v, const struct chunk *c, size_t k)
{
    return c->sum[k + includes_own(&v->problem)];
}

/* Adds x exactly: what `sum` rounds away is added to `lost`. */
static void wide_add(struct wide_sum *wide, long double x)
{
    long double sum = wide->sum + x;
    if (isfinite(sum)) {
        long double of_x = sum - wide->sum;
        wide->lost += (wide->sum - (sum - of_x)) + (x - of_x);
    }
    wide->sum = sum;
}

/* A sum of integers of this type, which are added up modulo 2^64, as its type of sums holds it. */
static long double verify_wrapped(enum element element, uint64_t sum)
{
    switch (element_of_sum(element)) {
    case ELEMENT_I32: return (int32_t)(uint32_t)sum;
    case ELEMENT_U32: return (uint32_t)sum;
    case ELEMENT_U64: return (long double)sum;
    default: return (long double)(int64_t)sum;
    }
}

/* An addend of an integer type, modulo 2^64. */
static uint64_t as_integer(long double addend)
{
    return addend < 0 ? (uint64_t)(int64_t)addend : (uint64_t)addend;
}

static void sum_integers(const struct verifier *v, struct chunk *c, struct sum_so_far *so_far)
{
    uint64_t sum = so_far->integer;
    size_t terms = c->count + c->ahead;
    for (size_t i = 0; i <= terms; i++) {
        c->sum[i] = verify_wrapped(v->problem.element, sum);
        if (i == c->count) so_far->integer = sum;
        if (i < terms) sum += as_integer(c->addend[i]);
    }
}

static void sum_reals(struct chunk *c, struct sum_so_far *so_far)
{
    struct wide_sum sum = so_far->real;
    size_t terms = c->count + c->ahead;
    for (size_t i = 0; i <= terms; i++) {
        c->sum[i] = sum.sum + sum.lost;
        if (i == c->count) so_far->real = sum;
        if (i < terms) wide_add(&sum, c->addend[i]);
    }
}

static void sum_reference(const struct verifier *v, struct chunk *c)
{
    const double *reference = v->problem.reference;
    c->sum[0] = c->at ? reference[c->at - 1] : 0;
    for (size_t i = 0; i < c->count + c->ahead; i++) c->sum[i + 1] = reference[c->at + i];
}

/* Loads the addends of `count` elements from `at` on. */
static void load(const struct verifier *v, struct chunk *c, size_t at, size_t count)
{
    c->at = at;
    c->count = count;
    c->ahead = at + count < v->problem.n;
    verify_addends(&v->problem, at, count + c->ahead, c->addend);
    if (!c->ahead) c->addend[count] = 0;
}

/* Adds up the addends; `so_far` is the sum before the chunk, and then the sum after it. */
static void add_up(const struct verifier *v, struct chunk *c, struct sum_so_far *so_far)
{
    if (v->problem.reference)
        sum_reference(v, c);
    else if (element_is_real(v->problem.element))
        sum_reals(c, so_far);
    else
        sum_integers(v, c, so_far);
    if (!c->ahead) c->sum[c->count + 1] = c->sum[c->count];
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Moves on to the block that holds this element, if that is not the block already. */
static void move_to_block(struct verifier *v, size_t index)
{
    static struct chunk c;
    struct blocks *blocks = &v->blocks;
    while (index - blocks->start >= blocks->size) {
        size_t end = blocks->start + blocks->size;
        for (size_t at = blocks->start; at < end; at += c.count) {
            load(v, &c, at, end - at < VERIFY_CHUNK ? end - at : VERIFY_CHUNK);
            add_up(v, &c, &blocks->sum);
        }
        blocks->base_before = blocks->base;
        blocks->base = c.sum[c.count];
        blocks->start = end;
    }
}

static void describe_block(struct verifier *v, struct evidence *e)
{
    struct blocks *blocks = &v->blocks;
    if (!blocks->size) return;
    move_to_block(v, e->index);
    size_t left = v->problem.n - blocks->start;
    e->block = e->index / blocks->size;
    e->block_elements = left < blocks->size ? left : blocks->size;
    e->base = blocks->base;
    e->block_before = blocks->base - blocks->base_before;
}

/* ---- one element ----------------------------------------------------------------------------- */

static bool is_minus_zero(long double x) { return x == 0 && signbit(x); }

/* May output `index` be -0? Only if it is a sum of nothing but -0. */
static bool may_be_minus_zero(const struct verifier *v, size_t index)
{
    size_t elements = index + includes_own(&v->problem);
    if (v->problem.reference && is_minus_zero(v->problem.reference[index])) return true;
    return elements > 0 && elements <= v->facts.minus_zeros;
}

static bool is_right(long double got, long double want, long double tolerance)
{
    if (fabsl(got - want) <= tolerance) return true; /* always false for a NaN or an infinity */
    return isnan(want) ? isnan(got) : isinf(want) && got == want;
}

/* Was a NaN expected, and is the one found the poison that the scan should have overwritten? Not if
 * the input holds such a NaN. */
static bool is_left_over(const struct verifier *v, const void *out, size_t i, long double want)
{
    return isnan(want) && !v->facts.poison &&
           verify_is_poison(out, element_of_sum(v->problem.element), i);
}

static void note_worst(struct verifier *v, long double error, double tolerance)
{
    struct verdict *verdict = &v->verdict;
    if (tolerance > verdict->bound) verdict->bound = tolerance;
    error = fabsl(error);
    if (error > verdict->worst * (long double)tolerance)
        verdict->worst = (double)(error / tolerance);
}

static void note_mismatch(struct verifier *v, const struct chunk *c, size_t k, const void *out,
                          size_t i, double tolerance)
{
    struct verdict *verdict = &v->verdict;
    enum element sum_element = element_of_sum(v->problem.element);
    bool poison = verify_is_poison(out, sum_element, i), own = includes_own(&v->problem);
    long double want = wanted(v, c, k);
    struct mismatch *m = verdict_note(verdict, v->at + k);
    if (m) {
        verify_text(out, sum_element, i, m->got, sizeof m->got);
        if (poison && element_is_real(sum_element)) strcpy(m->got, "never written");
        snprintf(m->want, sizeof m->want, "%.*Lg", sum_element == ELEMENT_F32 ? 9 : 17, want);
    }
    struct evidence evidence = {
        .index = v->at + k,
        .got = c->got[k],
        .want = want,
        .want_previous = k + own > 0 ? c->sum[k + own - 1] : v->previous,
        .want_next = c->sum[k + own + 1],
        .addend = c->addend[k],
        .newest = own ? c->addend[k]
                  : k ? c->addend[k - 1]
                      : v->addend,
        .tolerance = tolerance,
        .poison = poison,
        .unstored = verify_is_unstored(out, sum_element, i),
    };
    describe_block(v, &evidence);
    suspect(&v->suspicion, &evidence);
}

/* ---- a chunk --------------------------------------------------------------------------------- */

/* The bound of an output that is a sum of at most this many elements, whose absolute values add up
 * to `magnitude`: d u / (1 - d u) of that for a depth of d additions, and at most (k - 1) u for k
 * elements. */
static double bound_of(const struct verifier *v, size_t elements, long double magnitude)
{
    if (v->is_exact) return 0;
    double unit = element_roundoff(v->problem.element), loss = v->depth * unit;
    double share = elements ? (double)(elements - 1) * unit : 0;
    if (loss < 1) share = fmin(share, loss / (1 - loss));
    return share * (double)magnitude * INFLATE;
}

static void judge(struct verifier *v, const struct chunk *c, size_t k, const void *out, size_t i,
                  double tolerance)
{
    long double want = wanted(v, c, k), got = c->got[k];
    bool right = is_right(got, want, tolerance) && !is_left_over(v, out, i, want);
    if (is_minus_zero(got) && !may_be_minus_zero(v, v->at + k)) right = false;
    if (!right)
        note_mismatch(v, c, k, out, i, tolerance);
    else if (isfinite(want))
        note_worst(v, got - want, tolerance);
}

static long double magnitude_of(long double x) { return isfinite(x) ? fabsl(x) : 0; }

/* Judges an output. `i` is its index in `out`, which may be NULL. */
static void pass_element(struct verifier *v, const struct chunk *c, size_t k, const void *out,
                         size_t i)
{
    bool own = includes_own(&v->problem);
    long double addend = magnitude_of(c->addend[k]);
    double tolerance = bound_of(v, v->at + k + own, v->magnitude + (own ? addend : 0));
    v->magnitude += addend;
    if (out) judge(v, c, k, out, i, tolerance);
}

/* Moves on past the chunk; `out`, if it is not NULL, has its outputs from index `i` on. */
static void pass_chunk(struct verifier *v, const struct chunk *c, const void *out, size_t i)
{
    for (size_t k = 0; k < c->count; k++) pass_element(v, c, k, out, i + k);
    if (out) v->verdict.checked += c->count;
    v->previous = wanted(v, c, c->count - 1);
    v->addend = c->addend[c->count - 1];
    v->at += c->count;
    progress_at(v->at);
}

/* ---- the whole output ------------------------------------------------------------------------ */

void verify_begin(struct verifier *v, const struct problem *problem, const struct facts *facts,
                  double depth, size_t block)
{
    *v = (struct verifier){.problem = *problem, .facts = *facts, .depth = depth};
    v->blocks.size = block;
    v->is_exact = problem->any_order ? facts->exact_in_any_order : facts->exact;
    v->verdict.right = true;
    v->verdict.least = facts->least;
}

/* Compares the next `count` outputs, at most a chunk, or leaves them out if `out` is NULL. */
static void compare_chunk(struct verifier *v, const void *out, size_t i, size_t count)
{
    static struct chunk c;
    load(v, &c, v->at, count);
    add_up(v, &c, &v->sum);
    if (out) element_widen(element_of_sum(v->problem.element), out, i, count, c.got);
    pass_chunk(v, &c, out, i);
}

/* ---- where no sum is rounded ----------------------------------------------------------------- */

/* Any right output equals the sum that it should be, also in doubles. If each of the next `count`
 * outputs does, and none is -0, moves on past them. */
static bool pass_exactly(struct verifier *v, const void *out, size_t i, size_t count)
{
    const struct problem *p = &v->problem;
    double real = (double)v->sum.real.sum;
    uint64_t integer = v->sum.integer;
    bool own = p->inclusive, right = true;
#define PASS_REALS(name, type)                                                                     \
    case name:                                                                                     \
        for (size_t k = 0; k < count; k++) {                                                       \
            double before = real, got = ((const type *)out)[i + k];                                \
            real += ((const type *)p->in)[v->at + k];                                              \
            right &= got == (own ? real : before) && !(got == 0 && signbit(got));                  \
        }                                                                                          \
        break;
#define PASS_INTEGERS(name, type, sum_type)                                                        \
    case name:                                                                                     \
        for (size_t k = 0; k < count; k++) {                                                       \
            uint64_t before = integer;                                                             \
            integer += (uint64_t)((const type *)p->in)[v->at + k];                                 \
            right &= ((const sum_type *)out)[i + k] == (sum_type)(own ? integer : before);         \
        }                                                                                          \
        break;
    switch (p->element) {
        PASS_REALS(ELEMENT_F32, float)
        PASS_REALS(ELEMENT_F64, double)
        INTEGER_TYPES(PASS_INTEGERS)
    }
    if (!right) return false;
    v->sum.real.sum = real;
    v->sum.integer = integer;
    v->at += count;
    v->verdict.checked += count;
    element_widen(element_of_sum(p->element), out, i + count - 1, 1, &v->previous);
    verify_addends(p, v->at - 1, 1, &v->addend);
    progress_at(v->at);
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

void verify_piece(struct verifier *v, const void *out, size_t start, size_t count)
{
    bool exactly = v->is_exact && !v->problem.reference;
    while (v->at < start) /* elements that are left out */
        compare_chunk(v, NULL, 0, start - v->at < VERIFY_CHUNK ? start - v->at : VERIFY_CHUNK);
    for (size_t i = 0, some; i < count; i += some) {
        some = count - i < VERIFY_CHUNK ? count - i : VERIFY_CHUNK;
        if (!exactly || !pass_exactly(v, out, i, some)) compare_chunk(v, out, i, some);
    }
}

struct verdict verify_end(struct verifier *v)
{
    v->verdict.exact = v->verdict.bound == 0;
    if (!v->verdict.right)
        suspicion_name(&v->suspicion, v, v->verdict.cause, sizeof v->verdict.cause);
    return v->verdict;
}

struct verdict verify_all(const struct problem *problem, const void *out, double depth,
                          size_t block)
{
    struct facts facts = facts_of(problem);
    struct verifier v;
    verify_begin(&v, problem, &facts, depth, block);
    verify_piece(&v, out, 0, problem->n);
    return verify_end(&v);
}

struct mismatch *verdict_note(struct verdict *v, size_t index)
{
    v->right = false;
    v->wrong++;
    if (v->shown == VERIFY_SHOWN) return NULL;
    struct mismatch *m = &v->first[v->shown++];
    m->index = index;
    return m;
}

void verdict_note_element(struct verdict *v, size_t index, enum element element, const void *got,
                          size_t at, const void *want)
{
    struct mismatch *m = verdict_note(v, index);
    if (!m) return;
    verify_text(got, element, at, m->got, sizeof m->got);
    element_text(element, want, 0, m->want, sizeof m->want);
}

void verdict_note_real(struct verdict *v, size_t index, enum element element, const void *got,
                       size_t at, long double want)
{
    struct mismatch *m = verdict_note(v, index);
    if (!m) return;
    verify_text(got, element, at, m->got, sizeof m->got);
    snprintf(m->want, sizeof m->want, "%.*Lg", element == ELEMENT_F32 ? 9 : 17, want);
}

void verdict_compare_integer(struct verdict *v, size_t index, enum element element,
                             const void *got, size_t at, uint64_t want)
{
    size_t size = element_size(element);
    uint32_t narrow = (uint32_t)want;
    const void *right = size == sizeof narrow ? (const void *)&narrow : &want;
    if (memcmp((const char *)got + at * size, right, size) != 0)
        verdict_note_element(v, index, element, got, at, right);
}

void verdict_compare_real(struct verdict *v, size_t index, enum element element, const void *got,
                          size_t at, long double want, long double bound)
{
    long double number;
    element_widen(element, got, at, 1, &number);
    long double error = fabsl(number - want);
    bool right = isfinite(want) ? error <= bound : isnan(want) ? isnan(number) : number == want;
    if (!right) verdict_note_real(v, index, element, got, at, want);
    if (!isfinite(want) || bound == 0) return;
    v->exact = false;
    if (bound > v->bound) v->bound = (double)bound;
    if (right && error / bound > v->worst) v->worst = (double)(error / bound);
}

void verdict_add_earlier(struct verdict *v, const struct verdict *earlier)
{
    if (!v->right) return;
    v->exact = v->exact && earlier->exact;
    v->checked = earlier->checked;
    v->worst = fmax(v->worst, earlier->worst);
    v->bound = fmax(v->bound, earlier->bound);
    v->least = fmin(v->least, earlier->least);
}
