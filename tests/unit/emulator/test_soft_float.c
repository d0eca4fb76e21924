/* test_soft_float.c — soft_float.c rounds every result as this processor does. */
#include "common/tools/emu/ops/ops.h"
#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>
#include <string.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

enum { TRIALS = 400000, OPERATIONS = SOFT_CONVERT + 1, FLUSH_BITS = 0x8040 };
static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static uint64_t state = 88172645463325252u;
static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Random bits: often denormal, near 1, the smallest normal, with few digits, or tiny. */
static float any_float(void)
{
    static const uint32_t keep[] = {0x807fffff, 0x80ffffff, 0x807fffff, 0xff80000f, 0x83ffffff},
                          set[] = {0, 0x3f000000, 0x00800000, 0, 0x1f000000};
    uint32_t bits = (uint32_t)(next() >> 17), kind = next() % 8;
    if (kind < 5) bits = (bits & keep[kind]) | set[kind];
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double any_double(void)
{
    static const uint64_t keep[] = {0x800fffffffffffff, 0x801fffffffffffff, 0x800fffffffffffff,
                                    0xfff000000000000f, 0x80ffffffffffffff},
                          set[] = {0, 0x3fe0000000000000, 0x0010000000000000, 0,
                                   0x1f00000000000000};
    uint64_t bits = next() ^ next() << 7, kind = next() % 8;
    if (kind < 5) bits = (bits & keep[kind]) | set[kind];
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The operands are volatile, so that the compiler neither computes nor moves the operation. */
#define DEFINE_BY_PROCESSOR(type, fma, sqrt)                                                       \
    static type by_processor_##type(enum soft_operation operation, volatile type a,                \
                                    volatile type b, volatile type c)                              \
    {                                                                                              \
        switch (operation) {                                                                       \
        case SOFT_ADD: return a + b;                                                               \
        case SOFT_SUB: return a - b;                                                               \
        case SOFT_MUL: return a * b;                                                               \
        case SOFT_FMA: return fma(a, b, c);                                                        \
        case SOFT_DIV: return a / b;                                                               \
        case SOFT_SQRT: return sqrt(a);                                                            \
        case SOFT_RCP: return 1 / a;                                                               \
        default: return a;                                                                         \
        }                                                                                          \
    }
DEFINE_BY_PROCESSOR(float, fmaf, sqrtf)
DEFINE_BY_PROCESSOR(double, fma, sqrt)

/* Are they the same number, with the same sign of a zero, or both NaN? */
static bool same(double a, double b)
{
    return a != a ? b != b : a == b && signbit(a) == signbit(b);
}

/* The processor rounds, and flushes small results, as the rules say. */
static double by_processor(enum soft_operation operation, const double o[3],
                           const struct soft_rules *rules)
{
    fesetround(rules->rounding);
#if defined __x86_64__
    unsigned before = _mm_getcsr();
    if (rules->flush) _mm_setcsr(before | FLUSH_BITS);
#endif
    volatile double expected =
        rules->is_double ? by_processor_double(operation, o[0], o[1], o[2])
                         : by_processor_float(operation, (float)o[0], (float)o[1], (float)o[2]);
#if defined __x86_64__
    _mm_setcsr(before);
#endif
    fesetround(FE_TONEAREST);
    return expected;
}

/* Any operation on these operands, in any rounding. */
static void compare(const double o[3], struct soft_rules rules)
{
    enum soft_operation operation = (enum soft_operation)(next() % OPERATIONS);
    rules.rounding = modes[next() % 4];
    double expected = by_processor(operation, o, &rules), got = soft_float(operation, o, &rules);
    cr_assert(same(got, expected), "operation %d, mode %d, %a %a %a: %a, not %a", operation,
              rules.rounding, o[0], o[1], o[2], got, expected);
}

Test(soft_float, floats_in_all_roundings)
{
    for (int k = 0; k < TRIALS; k++) {
        float a = any_float(), b = next() % 4 ? any_float() : -a, c = next() % 8 ? any_float() : -a;
        compare((double[]){a, b, c}, (struct soft_rules){.is_double = false});
    }
}

Test(soft_float, doubles_in_all_roundings)
{
    for (int k = 0; k < TRIALS; k++) {
        double a = any_double(), b = next() % 4 ? any_double() : -a,
               c = next() % 8 ? any_double() : -a * b;
        compare((double[]){a, b, c}, (struct soft_rules){.is_double = true});
    }
}

Test(soft_float, doubles_become_floats)
{
    for (int k = 0; k < TRIALS; k++) {
        volatile double a = next() % 2 ? any_double() : any_float() * (1 + any_float() * 0x1p-80);
        struct soft_rules rules = {.rounding = modes[next() % 4]};
        fesetround(rules.rounding);
        volatile float expected = (float)a;
        fesetround(FE_TONEAREST);
        double got = soft_float(SOFT_CONVERT, (double[3]){a}, &rules);
        cr_assert(same(got, expected), "mode %d, %a: %a, not %a", rules.rounding, a, got, expected);
    }
}

Test(soft_float, integers_become_floats_and_doubles)
{
    for (int k = 0; k < TRIALS; k++) {
        volatile int64_t a = (int64_t)(next() >> next() % 64);
        if (next() % 2) a = (int64_t)(0 - (uint64_t)a);
        struct soft_rules rules = {.is_double = next() % 2, .rounding = modes[next() % 4]};
        fesetround(rules.rounding);
        volatile double expected = rules.is_double ? (double)a : (double)(float)a;
        fesetround(FE_TONEAREST);
        double got = soft_of_integer(a < 0, a < 0 ? 0 - (uint64_t)a : (uint64_t)a, &rules);
        cr_assert(same(got, expected), "mode %d, %lld: %a, not %a", rules.rounding, (long long)a,
                  got, expected);
    }
}

#if defined __x86_64__
Test(soft_float, small_results_are_flushed)
{
    for (int k = 0; k < TRIALS; k++) {
        double o[3];
        for (int i = 0; i < 3; i++) {
            float any = any_float();
            o[i] = fpclassify(any) == FP_SUBNORMAL ? copysign(0, any) : any;
        }
        compare(o, (struct soft_rules){.flush = true});
    }
}
#endif
