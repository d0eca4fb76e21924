/*
 * verify_quick.c — many chunks at a time, where no sum is rounded. Then any right output equals the
 * sum that it should be, and a chunk needs of the others only the sum of all before it. The sums of
 * chunks are exact, so they may be added up in any order, also in doubles.
 */
#include "verify.h"

#include "common/harness/host/host.h"

#include <math.h>

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

bool quick_is_possible(const struct verifier *v)
{
    return v->is_exact && !v->problem.reference;
}

/* Adds elements first … end-1 of all. */
static struct exact_sum add_up(struct exact_sum sum, size_t first, size_t end)
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
static bool is_right(struct exact_sum sum, size_t first, size_t end)
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
    quick.sums[k] = add_up((struct exact_sum){0}, begin_of(k), end_of(k));
}

static void compare_chunk(void *unused, size_t k)
{
    (void)unused;
    quick.right[k] = is_right(quick.sums[k], begin_of(k), end_of(k));
}

size_t quick_compare(const struct verifier *v, const void *out, size_t i, size_t count)
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
    if (out) parallel_for(chunks, compare_chunk, NULL);
    return quick.count;
}

bool quick_is_right(size_t index)
{
    return !quick.out || quick.right[(index - quick.at) / VERIFY_CHUNK];
}

static struct exact_sum sum_before(size_t index)
{
    size_t k = (index - quick.at) / VERIFY_CHUNK;
    return index == quick.at + quick.count
               ? quick.sums[(quick.count + VERIFY_CHUNK - 1) / VERIFY_CHUNK]
               : add_up(quick.sums[k], begin_of(k), index);
}

long double quick_sum(size_t index)
{
    struct exact_sum sum = sum_before(index);
    if (element_is_real(quick.problem->element)) return sum.real;
    return verify_wrapped(quick.problem->element, sum.integer);
}

void quick_move(struct verifier *v, size_t index)
{
    struct exact_sum sum = sum_before(index);
    v->sum.real.sum = sum.real;
    v->sum.integer = sum.integer;
    v->at = index;
}
