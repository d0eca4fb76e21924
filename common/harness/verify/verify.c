#include "common/harness/host/host.h"
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
    bool equal;                           /* all of `got` are the expected numbers */
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

static void sum_reals(const struct verifier *v, struct chunk *c, struct sum_so_far *so_far)
{
    struct wide_sum sum = so_far->real;
    size_t terms = c->count + c->ahead;
    bool plain = v->facts.plain;
    for (size_t i = 0; i <= terms; i++) {
        c->sum[i] = sum.sum + sum.lost;
        if (i == c->count) so_far->real = sum;
        if (i == terms) break;
        if (plain)
            sum.sum += c->addend[i];
        else
            wide_add(&sum, c->addend[i]);
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
        sum_reals(v, c, so_far);
    else
        sum_integers(v, c, so_far);
    if (!c->ahead) c->sum[c->count + 1] = c->sum[c->count];
}

/* The sum of all elements before this one, which is one of those compared, or the next. */
static long double quick_sum(size_t index);

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The sum of all elements before `index`, which is the start of a block: of the block that holds
 * element v->at, of the block before that, or of a block that begins in the chunk. */
static long double base_at(const struct verifier *v, const struct chunk *c, size_t index)
{
    if (index >= v->at) return c->sum[index - v->at];
    return index == v->blocks.start ? v->blocks.base : v->blocks.base_before;
}

/* Moves the blocks on to the end of the chunk. */
static void pass_blocks(struct verifier *v, const struct chunk *c)
{
    struct blocks *blocks = &v->blocks;
    if (!blocks->size) return;
    size_t end = v->at + c->count, start = end - end % blocks->size;
    if (start == blocks->start) return;
    long double before = base_at(v, c, start - blocks->size);
    blocks->base = base_at(v, c, start);
    blocks->base_before = before;
    blocks->start = start;
}

static void describe_block(const struct verifier *v, const struct chunk *c, struct evidence *e)
{
    size_t size = v->blocks.size, start = size ? e->index - e->index % size : 0;
    if (!size) return;
    e->block = e->index / size;
    e->block_elements = v->problem.n - start < size ? v->problem.n - start : size;
    e->base = base_at(v, c, start);
    e->block_before = start ? e->base - base_at(v, c, start - size) : 0;
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
    describe_block(v, c, &evidence);
    suspect(&v->suspicion, &evidence);
}

/* ---- a chunk --------------------------------------------------------------------------------- */

/* The common case, quickly: is every element equal to the expected number? */
static bool all_equal(const struct verifier *v, const struct chunk *c)
{
    const long double *want = &c->sum[includes_own(&v->problem)];
    for (size_t k = 0; k < c->count; k++)
        if (c->got[k] != want[k] || is_minus_zero(c->got[k])) return false;
    return true;
}

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

/* Judges an output, unless it is known to be right. `i` is its index in `out`. */
static void pass_element(struct verifier *v, const struct chunk *c, size_t k, const void *out,
                         size_t i, bool equal)
{
    bool own = includes_own(&v->problem);
    long double addend = magnitude_of(c->addend[k]);
    double tolerance = bound_of(v, v->at + k + own, v->magnitude + (own ? addend : 0));
    v->magnitude += addend;
    if (out && equal && tolerance > v->verdict.bound) v->verdict.bound = tolerance;
    if (out && !equal) judge(v, c, k, out, i, tolerance);
}

/* Moves on past the chunk; `out`, if it is not NULL, has its outputs from index `i` on. */
static void pass_chunk(struct verifier *v, const struct chunk *c, const void *out, size_t i)
{
    bool equal = out && c->equal;
    if (!v->is_exact || (out && !equal))
        for (size_t k = 0; k < c->count; k++) pass_element(v, c, k, out, i + k, equal);
    if (out) v->verdict.checked += c->count;
    v->previous = wanted(v, c, c->count - 1);
    v->addend = c->addend[c->count - 1];
    pass_blocks(v, c);
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
    if (out) {
        element_widen(element_of_sum(v->problem.element), out, i, count, c.got);
        c.equal = all_equal(v, &c);
    }
    pass_chunk(v, &c, out, i);
}

/* Like base_at, where quick_compare has compared the elements. */
static long double quick_base_at(const struct verifier *v, size_t from, size_t index)
{
    if (index >= from) return quick_sum(index);
    return index == v->blocks.start ? v->blocks.base : v->blocks.base_before;
}

/* Moves the verifier's place and sum on to this element. */
static void quick_move(struct verifier *, size_t index);

/* Moves on past elements that quick_compare, called at `from`, has found right. */
static void pass_right(struct verifier *v, size_t from, size_t to, bool checked)
{
    struct blocks *blocks = &v->blocks;
    size_t start = blocks->size ? to - to % blocks->size : 0;
    if (to == v->at) return;
    if (start != blocks->start) {
        long double before = quick_base_at(v, from, start - blocks->size);
        blocks->base = quick_base_at(v, from, start);
        blocks->base_before = before;
        blocks->start = start;
    }
    v->previous = quick_sum(to - !includes_own(&v->problem));
    verify_addends(&v->problem, to - 1, 1, &v->addend);
    if (checked) v->verdict.checked += to - v->at;
    quick_move(v, to);
    progress_at(v->at);
}

/* Compares the next `count` outputs, or fewer; `out` has them from index `i` on. If `out` is NULL,
 * they are left out. Returns how many they are. The verifier stays where it is, but the next three
 * are answered until the next call. */
static size_t quick_compare(const struct verifier *, const void *out, size_t i, size_t count);

/* Are all outputs of the chunk that begins with this element right? */
static bool quick_is_right(size_t index);

/* Compares some of the next `count` outputs. Returns how many. Chunks that are not right are
 * compared again, one after the other. */
static size_t compare_some(struct verifier *v, const void *out, size_t i, size_t count)
{
    size_t from = v->at, some = quick_compare(v, out, i, count);
    for (size_t k = 0; k < some; k += VERIFY_CHUNK) {
        if (quick_is_right(from + k)) continue;
        pass_right(v, from, from + k, out);
        compare_chunk(v, out, i + k, some - k < VERIFY_CHUNK ? some - k : VERIFY_CHUNK);
    }
    pass_right(v, from, from + some, out);
    return some;
}

/* Is no sum of this verifier rounded? Otherwise the others must not be called. */
static bool quick_is_possible(const struct verifier *);

static void compare(struct verifier *v, const void *out, size_t count)
{
    bool is_quick = quick_is_possible(v);
    size_t most = is_quick ? count : VERIFY_CHUNK;
    for (size_t i = 0, some; i < count; i += some) {
        some = count - i < most ? count - i : most;
        if (is_quick)
            some = compare_some(v, out, i, some);
        else
            compare_chunk(v, out, i, some);
    }
}

void verify_piece(struct verifier *v, const void *out, size_t start, size_t count)
{
    if (v->at < start) compare(v, NULL, start - v->at); /* elements that are left out */
    compare(v, out, count);
}

struct verdict verify_end(struct verifier *v)
{
    v->verdict.exact = v->verdict.bound == 0;
    if (!v->verdict.right)
        suspicion_name(&v->suspicion, v, v->verdict.cause, sizeof v->verdict.cause);
    return v->verdict;
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

/* ---- many elements at a time ----------------------------------------------------------------- */

/*
 * Many chunks at a time, where no sum is rounded. Then any right output equals the
 * sum that it should be, and a chunk needs of the others only the sum of all before it. The sums of
 * chunks are exact, so they may be added up in any order, also in doubles.
 */

#define CHUNKS 2048

struct exact_sum {
    double real;
    uint64_t integer; /* of integer types, which wrap around */
};

static struct quick {
    const struct problem *problem;
    const void *out;                   /* NULL: nothing is to be compared */
    size_t at, i, count;               /* the first element in all and in `out`; how many */
    struct exact_sum sums[CHUNKS + 1]; /* of each chunk, then of all before it */
    bool right[CHUNKS];
} quick;

static bool quick_is_possible(const struct verifier *v)
{
    return v->is_exact && !v->problem.reference;
}

/* Adds elements first … end-1 of all. */
static struct exact_sum add_up_exactly(struct exact_sum sum, size_t first, size_t end)
{
    const void *in = quick.problem->in;
#define ADD_REALS(name, type)                                                                      \
    case name:                                                                                     \
        for (size_t i = first; i < end; i++) sum.real += ((const type *)in)[i];                    \
        break;
#define ADD_INTEGERS(name, type, sum_type)                                                         \
    case name:                                                                                     \
        for (size_t i = first; i < end; i++) sum.integer += (uint64_t)((const type *)in)[i];       \
        break;
    switch (quick.problem->element) {
        ADD_REALS(ELEMENT_F32, float)
        ADD_REALS(ELEMENT_F64, double)
        INTEGER_TYPES(ADD_INTEGERS)
    }
    return sum;
}

/* Is each output of elements first … end-1 the sum that it should be, and none -0? */
static bool is_exact(struct exact_sum sum, size_t first, size_t end)
{
    const void *in = quick.problem->in;
    bool own = quick.problem->inclusive, right = true;
    size_t to = quick.i - quick.at; /* it may wrap around, and i + to does so again */
#define COMPARE_REALS(name, type)                                                                  \
    case name:                                                                                     \
        for (size_t i = first; i < end; i++) {                                                     \
            double before = sum.real, got = ((const type *)quick.out)[i + to];                     \
            sum.real += ((const type *)in)[i];                                                     \
            right &= got == (own ? sum.real : before) && !(got == 0 && signbit(got));              \
        }                                                                                          \
        break;
#define COMPARE_INTEGERS(name, type, sum_type)                                                     \
    case name:                                                                                     \
        for (size_t i = first; i < end; i++) {                                                     \
            uint64_t before = sum.integer;                                                         \
            sum.integer += (uint64_t)((const type *)in)[i];                                        \
            sum_type want = (sum_type)(own ? sum.integer : before);                                \
            right &= ((const sum_type *)quick.out)[i + to] == want;                                \
        }                                                                                          \
        break;
    switch (quick.problem->element) {
        COMPARE_REALS(ELEMENT_F32, float)
        COMPARE_REALS(ELEMENT_F64, double)
        INTEGER_TYPES(COMPARE_INTEGERS)
    }
    return right;
}

static size_t begin_of(size_t k) { return quick.at + k * VERIFY_CHUNK; }

static size_t end_of(size_t k)
{
    size_t end = (k + 1) * VERIFY_CHUNK;
    return quick.at + (end < quick.count ? end : quick.count);
}

static void add_up_chunk(void *unused, size_t k)
{
    (void)unused;
    quick.sums[k] = add_up_exactly((struct exact_sum){0}, begin_of(k), end_of(k));
}

static void check_chunk(void *unused, size_t k)
{
    (void)unused;
    quick.right[k] = is_exact(quick.sums[k], begin_of(k), end_of(k));
}

static size_t quick_compare(const struct verifier *v, const void *out, size_t i, size_t count)
{
    size_t most = CHUNKS * VERIFY_CHUNK, chunks;
    struct exact_sum sum = {.real = (double)v->sum.real.sum, .integer = v->sum.integer};
    quick.problem = &v->problem;
    quick.out = out;
    quick.at = v->at, quick.i = i, quick.count = count < most ? count : most;
    chunks = (quick.count + VERIFY_CHUNK - 1) / VERIFY_CHUNK;
    parallel_for(chunks, add_up_chunk, NULL);
    for (size_t k = 0; k <= chunks; k++) {
        struct exact_sum own = k < chunks ? quick.sums[k] : (struct exact_sum){0};
        quick.sums[k] = sum;
        sum.real += own.real;
        sum.integer += own.integer;
    }
    if (out) parallel_for(chunks, check_chunk, NULL);
    return quick.count;
}

static bool quick_is_right(size_t index)
{
    return !quick.out || quick.right[(index - quick.at) / VERIFY_CHUNK];
}

static struct exact_sum sum_before(size_t index)
{
    size_t k = (index - quick.at) / VERIFY_CHUNK;
    return index == quick.at + quick.count
               ? quick.sums[(quick.count + VERIFY_CHUNK - 1) / VERIFY_CHUNK]
               : add_up_exactly(quick.sums[k], begin_of(k), index);
}

static long double quick_sum(size_t index)
{
    struct exact_sum sum = sum_before(index);
    if (element_is_real(quick.problem->element)) return sum.real;
    return verify_wrapped(quick.problem->element, sum.integer);
}

static void quick_move(struct verifier *v, size_t index)
{
    struct exact_sum sum = sum_before(index);
    v->sum.real.sum = sum.real;
    v->sum.integer = sum.integer;
    v->at = index;
}
