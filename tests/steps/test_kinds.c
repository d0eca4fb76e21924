/*
 * test_kinds.c — numbers of every kind, as a file may hold them: no right scan is called wrong
 * because its additions round.
 */
#include "tests/support/scan_once.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define SEEDS 2

static uint64_t random_state;
static uint64_t random_bits(void) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1Du;
}

static double random_sign(void) { return random_bits() >> 63 ? -1 : 1; }
static double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

enum kind {
    REALS,     /* of one magnitude */
    GEOMETRIC, /* of magnitudes from 2^-60 to 2^60 */
    POSITIVE,  /* without a sign, so that errors add up */
    BIG_PAIRS, /* large numbers that cancel, and small ones between them */
    DENORMALS, /* below the smallest normal number */
    ONE_HUGE,  /* the others are too small to change the sum */
    ZEROS,     /* 0, -0, and pairs that cancel */
    ALTERNATING, /* every sum of neighbours is exact, other sums are not */
    WITH_NAN,
    WITH_INFINITIES,
    KINDS
};

static double number(enum kind kind, size_t i, size_t n)
{
    static double pair;
    switch (kind) {
    case GEOMETRIC:
        return random_sign() * ldexp(1 + random_unit(), (int)(random_bits() % 121) - 60);
    case POSITIVE: return random_unit();
    case BIG_PAIRS:
        if (i % 7 == 0) return pair = ldexp(1 + random_unit(), (int)(random_bits() % 60));
        return i % 7 == 3 ? -pair : random_unit();
    case DENORMALS: return random_sign() * (double)(random_bits() >> 42) * 0x1p-149;
    case ONE_HUGE: return i == n / 3 ? 0x1p40 : 1 + random_unit();
    case ZEROS:
        if (i % 3 == 0) return pair = random_bits() % 3 ? random_unit() : -0.0;
        return i % 3 == 1 ? -pair : random_sign() * 0.0;
    case ALTERNATING: return i % 512 ? 0 : (i / 512 % 2 ? -1.0 : 1) * (0x1p22 - (double)(i / 512));
    case WITH_NAN: return i == n / 2 ? NAN : random_sign() * (1 + random_unit());
    case WITH_INFINITIES:
        if (i == n / 2) return INFINITY;
        return i == n - n / 4 ? -INFINITY : random_sign() * (1 + random_unit());
    default: return random_sign() * (1 + random_unit()) / 2;
    }
}

static void see_kind(const struct step *step, int variant, size_t n, enum kind kind)
{
    enum element element = step_element(step, variant);
    void *data = malloc(n * sizeof(double));
    cr_assert(data != NULL);
    for (size_t i = 0; i < n; i++) element_store_real(element, data, i, number(kind, i, n));
    expect_right_from_file(&(struct scan){step, variant, n, 0, false}, data);
    free(data);
}

static void every_kind(int number)
{
    static const size_t sizes[] = {1, 2, 31, 64, 512, 1000, 2048, 10007, 70001};
    const struct step *step = scan_step(number);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int variant = 0; variant < variant_count(step); variant++) {
            size_t n = sizes[i];
            if (!element_is_real(step_element(step, variant)) || (step->max_n && n > step->max_n) ||
                (step->power_of_two && n & (n - 1)))
                continue;
            for (uint64_t seed = 1; seed <= SEEDS; seed++)
                for (enum kind kind = 0; kind < KINDS; kind++) {
                    random_state = seed * 977 + (uint64_t)kind;
                    see_kind(step, variant, n, kind);
                }
        }
}

#define KINDS_OF(k)                                                                                \
    Test(step_##k, kinds_of_numbers_slow) { every_kind(k); }
KINDS_OF(1)
KINDS_OF(2)
KINDS_OF(3)
KINDS_OF(4)
KINDS_OF(5)
KINDS_OF(6)
KINDS_OF(7)
KINDS_OF(8)
KINDS_OF(9)
KINDS_OF(10)
KINDS_OF(11)
KINDS_OF(12)
