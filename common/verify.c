#include "verify.h"

#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHUNK 2048 /* elements looked at together */

/* Adds x exactly: `lost` collects what `sum` rounds away. */
static void wide_add(struct wide_sum *wide, long double x)
{
    long double sum = wide->sum + x;
    if (isfinite(sum)) {
        long double of_x = sum - wide->sum;
        wide->lost += (wide->sum - (sum - of_x)) + (x - of_x);
    }
    wide->sum = sum;
}

static long double wide_value(const struct wide_sum *wide) { return wide->sum + wide->lost; }

static bool is_poison(const void *array, enum element element, size_t index)
{
    size_t size = element_size(element);
    const unsigned char *bytes = (const unsigned char *)array + index * size;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != VERIFY_POISON) return false;
    return true;
}

/* The numbers that are summed: the input's, or the differences of the step's own reference. */
static void load_addends(const struct problem *p, size_t start, size_t count, long double *to)
{
    if (!p->reference) {
        element_widen(p->element, p->in, start, count, to);
        return;
    }
    for (size_t i = start; i < start + count; i++)
        to[i - start] = (long double)p->reference[i] - (i ? p->reference[i - 1] : 0);
}

/* Is an element's own addend part of its output? With a reference addends are defined so. */
static bool includes_own(const struct problem *p) { return p->inclusive || p->reference; }

struct facts facts_of(const struct problem *problem)
{
    struct facts facts = {.finite = true, .exact = true};
    const long double exact_max = element_exact_max(problem->element); /* well within int64 */
    long double addends[CHUNK], sum = 0, low = 0, high = 0;
    for (size_t start = 0; start < problem->n; start += CHUNK) {
        size_t count = problem->n - start < CHUNK ? problem->n - start : CHUNK;
        load_addends(problem, start, count, addends);
        progress_at(start);
        for (size_t i = 0; i < count; i++) {
            long double x = addends[i];
            if (!isfinite(x)) {
                facts.finite = facts.exact = false;
                if (is_poison(problem->in, problem->element, start + i)) facts.poison = true;
                continue;
            }
            facts.magnitude += fabsl(x);
            if (!facts.exact) continue;
            sum += x;
            if (sum < low) low = sum;
            if (sum > high) high = sum;
            /* A contiguous sum is the difference of two of the running ones. */
            facts.exact = high - low <= exact_max && x == (long double)(int64_t)x;
        }
    }
    if (!element_is_real(problem->element)) facts.exact = true; /* any order wraps to the same */
    return facts;
}

int facts_check(const struct facts *facts, enum element element, struct fault *fault)
{
    if (!element_is_real(element) || facts->magnitude <= element_max(element)) return 0;
    return fail(
        fault, EXIT_USAGE,
        "the input's absolute values sum to %.3Lg, beyond the largest %s (%.3Lg), so it would "
        "depend on the order of additions what overflows; scale the input down.",
        facts->magnitude, element_name(element), element_max(element));
}

void verify_begin(struct verifier *v, const struct problem *problem, const struct facts *facts,
                  double depth, size_t tile)
{
    *v = (struct verifier){.problem = *problem, .facts = *facts, .depth = depth, .tile = tile};
    v->roundoff = element_roundoff(problem->element);
    v->verdict.right = true;
    v->verdict.exact = facts->exact;
}

/* The sum so far and x, as the element type of sums holds it: integers wrap around. */
static long double sum_with(const struct verifier *v, long double x)
{
    switch (element_of_sum(v->problem.element)) {
    case ELEMENT_I32: return (int32_t)(uint32_t)(v->integer_sum + (uint64_t)(int64_t)x);
    case ELEMENT_I64: return (long double)(int64_t)(v->integer_sum + (uint64_t)(int64_t)x);
    default: break;
    }
    if (v->facts.exact) return v->sum.sum + x;
    if (x == 0) return wide_value(&v->sum);
    struct wide_sum sum = v->sum;
    wide_add(&sum, x);
    return wide_value(&sum);
}

/* Moves on by one element; `at` has been dealt with. */
static void advance(struct verifier *v, long double addend)
{
    if (v->tile && v->at % v->tile == 0) v->tile_base = sum_with(v, 0);
    if (element_is_real(v->problem.element)) {
        if (v->facts.exact)
            v->sum.sum += addend;
        else
            wide_add(&v->sum, addend);
        if (v->facts.finite || isfinite(addend)) v->magnitude += fabsl(addend);
    } else {
        v->integer_sum += (uint64_t)(int64_t)addend;
    }
    v->addend_before = addend;
    v->at++;
}

/* What output `at` should be; the element's addend has not been added yet. */
static long double expected(const struct verifier *v, long double addend)
{
    if (v->problem.reference) return v->problem.reference[v->at];
    return sum_with(v, includes_own(&v->problem) ? addend : 0);
}

/* additions * u * sum of |x|: see verify.h. A sum of k elements takes at most k - 1 additions that
 * can round, whatever the depth is that the step states for all of them. */
static long double bound(const struct verifier *v, long double addend)
{
    if (v->facts.exact) return 0;
    size_t elements = v->at;
    long double magnitude = v->magnitude;
    if (includes_own(&v->problem)) {
        elements++;
        if (v->facts.finite || isfinite(addend)) magnitude += fabsl(addend);
    }
    double additions = elements ? (double)(elements - 1) : 0;
    if (v->depth < additions) additions = v->depth;
    return additions * v->roundoff * magnitude;
}

static bool is_right(long double got, long double want, long double tolerance)
{
    if (fabsl(got - want) <= tolerance) return true; /* never so for a NaN or an infinity */
    return isnan(want) ? isnan(got) : isinf(want) && got == want;
}

/* Is a NaN expected here, and what was found is the poison that the scan should have written over?
 * Unless such a NaN has come with the input. */
static bool is_left_over(const struct verifier *v, const void *out, size_t i, long double want)
{
    return isnan(want) && !v->facts.poison && is_poison(out, element_of_sum(v->problem.element), i);
}

static void note_mismatch(struct verifier *v, const void *out, size_t i, long double got,
                          long double want, long double addend, long double next_addend)
{
    struct verdict *verdict = &v->verdict;
    enum element sum_element = element_of_sum(v->problem.element);
    verdict->right = false;
    verdict->wrong++;
    if (verdict->shown < VERIFY_SHOWN) {
        struct mismatch *m = &verdict->first[verdict->shown++];
        m->index = v->at;
        element_text(sum_element, out, i, m->got, sizeof m->got);
        if (is_poison(out, sum_element, i)) strcpy(m->got, "never written");
        snprintf(m->want, sizeof m->want, "%.*Lg", sum_element == ELEMENT_F32 ? 9 : 17, want);
    }
    struct evidence evidence = {
        .index = v->at,
        .got = got,
        .want = want,
        .want_previous = v->previous,
        .want_next = want + (includes_own(&v->problem) ? next_addend : addend),
        .addend = addend,
        .addend_before = v->addend_before,
        .tile_sum = want - (v->tile && v->at % v->tile == 0 ? sum_with(v, 0) : v->tile_base),
        .tolerance = bound(v, addend),
        .poison = is_poison(out, sum_element, i),
    };
    suspect(&v->suspicion, &evidence);
}

/* Sums the elements up to `end` without comparing. */
static void skip_to(struct verifier *v, size_t end)
{
    long double addends[CHUNK];
    while (v->at < end) {
        size_t count = end - v->at < CHUNK ? end - v->at : CHUNK;
        load_addends(&v->problem, v->at, count, addends);
        for (size_t i = 0; i < count; i++) {
            if (i + 1 == count && v->at + 1 == end) v->previous = expected(v, addends[i]);
            advance(v, addends[i]);
        }
    }
}

/* The common case, quickly: real numbers with exact sums, all of which are right. Otherwise returns
 * false and changes nothing. */
static bool all_right(struct verifier *v, const long double *addends, const long double *got,
                      size_t count)
{
    if (!v->facts.exact || !element_is_real(v->problem.element) || v->problem.reference)
        return false;
    long double sum = v->sum.sum, want = 0, tile_base = v->tile_base;
    size_t until_tile = v->tile ? (v->tile - v->at % v->tile) % v->tile : count;
    for (size_t i = 0; i < count; i++) {
        if (i == until_tile) {
            tile_base = sum;
            until_tile += v->tile;
        }
        want = v->problem.inclusive ? sum + addends[i] : sum;
        if (got[i] != want) return false;
        sum += addends[i];
    }
    v->sum.sum = sum;
    v->previous = want;
    v->tile_base = tile_base;
    v->addend_before = addends[count - 1];
    v->at += count;
    v->verdict.checked += count;
    return true;
}

void verify_piece(struct verifier *v, const void *out, size_t start, size_t count)
{
    long double addends[CHUNK], got[CHUNK];
    enum element sum_element = element_of_sum(v->problem.element);
    skip_to(v, start);
    for (size_t done = 0; done < count;) {
        size_t now = count - done < CHUNK - 1 ? count - done : CHUNK - 1;
        size_t ahead = v->at + now < v->problem.n ? 1 : 0; /* one more: the right neighbour's */
        load_addends(&v->problem, v->at, now + ahead, addends);
        element_widen(sum_element, out, done, now, got);
        bool right = all_right(v, addends, got, now);
        for (size_t i = 0; i < now && !right; i++) {
            long double want = expected(v, addends[i]);
            long double tolerance = bound(v, addends[i]);
            v->verdict.checked++;
            if (is_right(got[i], want, tolerance) && !is_left_over(v, out, done + i, want)) {
                long double error = fabsl(got[i] - want);
                if (error > v->verdict.worst * tolerance)
                    v->verdict.worst = (double)(error / tolerance);
            } else {
                note_mismatch(v, out, done + i, got[i], want, addends[i],
                              i + 1 < now + ahead ? addends[i + 1] : 0);
            }
            v->previous = want;
            advance(v, addends[i]);
        }
        done += now;
        progress_at(v->at);
    }
}

struct verdict verify_end(struct verifier *v)
{
    if (!v->verdict.right)
        suspicion_name(&v->suspicion, v, v->verdict.cause, sizeof v->verdict.cause);
    return v->verdict;
}
