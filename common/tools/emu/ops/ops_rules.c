/* ops_rules.c — modifiers that any floating-point operation may have: .rz .rm .rp, .ftz, .sat and
 * .relu (PTX ISA, "Floating-Point Instructions"). A wrapper sets the CPU's mode, calls the
 * operation, and clamps its results. The decoder chooses the wrapper (insn.h). */
#include "ops.h"
#include <fenv.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

/* ---- the CPU's mode: rounding, and zeros in place of denormal operands and results ----------- */

#if defined __x86_64__
enum {
    FLUSH_BITS = 0x8040,    /* bits of MXCSR */
    ROUNDING_BITS = 0x6000, /* the place of FE_TOWARDZERO and so on, */
    ROUNDING_SHIFT = 3,     /* which <fenv.h> defines for the x87's control word */
};

/* Sets the mode and returns the one before. The compiler moves no access to memory across a change
 * of the mode, so a loop over lanes stays between two of them. */
static inline unsigned set_mode(const struct float_rules *rules)
{
    unsigned before = _mm_getcsr(), rounding = (unsigned)rules->rounding << ROUNDING_SHIFT;
    unsigned flush = rules->flush ? FLUSH_BITS : 0;
    _mm_setcsr((before & ~(unsigned)(ROUNDING_BITS | FLUSH_BITS)) | rounding | flush);
    __asm__ volatile("" ::: "memory");
    return before;
}

static inline void restore_mode(unsigned before)
{
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(before);
}

static inline void run_in_mode(struct warp *w, const struct insn *i, uint32_t mask)
{
    unsigned before = set_mode(&i->rules);
    i->rules.inner(w, i, mask);
    restore_mode(before);
}
#else
/* Without modes: in software. */
static inline void run_in_mode(struct warp *w, const struct insn *i, uint32_t mask)
{
    rounding_run(w, i, mask);
}
#endif

/* For operations on bits, which the CPU's mode does not affect. */
static void flush_results(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_float *d = LANES(f32, i->d), results[WARP];
    flush_lanes(results, d);
    FOR_LANES(d, results[l]);
}

/* ---- .sat and .relu -------------------------------------------------------------------------- */

static inline uint32_t clamp_half(uint32_t bits, enum ptx_type type, enum clamp clamp)
{
    bool brain = type == PTX_BF16 || type == PTX_BF16X2;
    uint32_t infinity = brain ? 0x7f80 : 0x7c00, one = brain ? 0x3f80 : 0x3c00,
             magnitude = bits & 0x7fff;
    if (magnitude > infinity) return clamp == CLAMP_TO_UNIT ? 0 : 0x7fff; /* NaN */
    if (bits & 0x8000) return 0;
    return clamp == CLAMP_TO_UNIT && magnitude > one ? one : bits;
}

/* A NaN becomes 0. */
static inline float to_unit_f32(float a) { return a > 0 ? (a < 1 ? a : 1) : 0; }
static inline double to_unit_f64(double a) { return a > 0 ? (a < 1 ? a : 1) : 0; }

static void clamp_results(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum ptx_type type = i->rules.type;
    enum clamp clamp = i->rules.clamp;
    if (type == PTX_F64) {
        lane_double *d = LANES(f64, i->d);
        FOR_LANES(d, to_unit_f64(d[l]));
    } else if (type == PTX_F32) {
        lane_float *d = LANES(f32, i->d);
        FOR_LANES(d, to_unit_f32(d[l]));
    } else {
        bool pair = ptx_type_size(type) == 4;
        lane_32 *d = LANES(u32, i->d);
        FOR_LANES(d, clamp_half(d[l] & 0xffff, type, clamp) |
                         (pair ? clamp_half(d[l] >> 16, type, clamp) << 16 : 0));
    }
}

/* ---- the wrappers ---------------------------------------------------------------------------- */

static void run_by_rules(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (i->rules.rounding != FE_TONEAREST || i->rules.flush)
        run_in_mode(w, i, mask);
    else
        i->rules.inner(w, i, mask);
    if (i->rules.flush && i->rules.type == PTX_F32) flush_results(w, i, mask);
    if (i->rules.clamp != CLAMP_NONE) clamp_results(w, i, mask);
}

static void run_resized(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (i->convert.wide_source != NO_SLOT) { /* the low half of a wide source */
        const lane_64 *wide = LANES(u64, i->convert.wide_source);
        lane_32 *narrow = LANES(u32, i->a);
        FOR_LANES(narrow, (uint32_t)wide[l]);
    }
    run_by_rules(w, i, mask);
    if (i->convert.wide_result != NO_SLOT) { /* a narrow result in a wide register */
        lane_64 *wide = LANES(u64, i->convert.wide_result);
        const lane_32 *narrow = LANES(u32, i->d);
        FOR_LANES(wide, i->is_signed ? (uint64_t)(int64_t)(int32_t)narrow[l] : narrow[l]);
    }
}

/* ---- frequent operations by loops of their own, which the decoder prefers to the wrapper ----- */

#define OPERATIONS(X)                                                                              \
    X(add, f32, a[l] + b[l])                                                                       \
    X(sub, f32, a[l] - b[l])                                                                       \
    X(mul, f32, a[l] * b[l])                                                                       \
    X(fma, f32, __builtin_fmaf(a[l], b[l], c[l]))                                                  \
    X(add, f64, nan_or(b[l], a[l] + b[l]))                                                         \
    X(sub, f64, nan_or(b[l], a[l] - b[l]))                                                         \
    X(mul, f64, nan_or(b[l], a[l] * b[l]))                                                         \
    X(fma, f64, nan_or(b[l], nan_or(c[l], __builtin_fma(a[l], b[l], c[l]))))
#define OPERANDS(type)                                                                             \
    L_##type *d = LANES(type, i->d);                                                               \
    const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b);                                 \
    const L_##type *c = i->c == NO_SLOT ? b : LANES(type, i->c); /* of fma */                      \
    (void)c

/* .rz, .rm and .rp, also with .sat */
#if defined __x86_64__
static inline float canonical_f32(float a) { return a == a ? a : f32_of_bits(0x7fffffff); }
static inline double canonical_f64(double a) { return a; }
#define DEFINE_ROUNDED(id, type, value)                                                            \
    static void id##_##type##_rounded(struct warp *w, const struct insn *i, uint32_t mask)         \
    {                                                                                              \
        OPERANDS(type);                                                                            \
        unsigned before = set_mode(&i->rules);                                                     \
        FOR_LANES(d, canonical_##type(value));                                                     \
        restore_mode(before);                                                                      \
        if (i->rules.clamp != CLAMP_NONE) clamp_results(w, i, mask);                               \
    }
OPERATIONS(DEFINE_ROUNDED)
#define ENTRY_ROUNDED(id, type, value) {"rounded." #id "." #type, id##_##type##_rounded, ""},
#else
#define ENTRY_ROUNDED(id, type, value)
#endif

/* .sat alone */
#define DEFINE_CLAMPED(id, type, value)                                                            \
    static void id##_##type##_clamped(struct warp *w, const struct insn *i, uint32_t mask)         \
    {                                                                                              \
        OPERANDS(type);                                                                            \
        FOR_LANES(d, to_unit_##type(value));                                                       \
    }
OPERATIONS(DEFINE_CLAMPED)
#define ENTRY_CLAMPED(id, type, value) {"clamped." #id "." #type, id##_##type##_clamped, ""},

/* .ftz, also with .sat. Denormal numbers are rare, so these only look for them, and leave it to the
 * wrapper to flush them. */
/* clang-format off */
#define FLUSHED_OPERATIONS(X)                                                                      \
    X(add, 2, x + y)                                                                               \
    X(sub, 2, x - y)                                                                               \
    X(mul, 2, x * y)                                                                               \
    X(div, 2, x / y)                                                                               \
    X(rcp, 1, 1.0f / x)                                                                            \
    X(fma, 3, row_fma(x, y, z))
/* clang-format on */
#define DEFINE_FLUSHED(id, operands, value)                                                        \
    static void id##_f32_flushed(struct warp *w, const struct insn *i, uint32_t mask)              \
    {                                                                                              \
        lane_float *d = LANES(f32, i->d);                                                          \
        const lane_float *a = LANES(f32, i->a);                                                    \
        const lane_float *b = operands < 2 ? a : LANES(f32, i->b);                                 \
        const lane_float *c = operands < 3 ? a : LANES(f32, i->c);                                 \
        row results[WARP / ROW];                                                                   \
        ranks least = ranks_of_none();                                                             \
        INDEPENDENT for (int r = 0; r < WARP / ROW; r++)                                           \
        {                                                                                          \
            row x = row_load(a + r * ROW), y = row_load(b + r * ROW), z = row_load(c + r * ROW);   \
            row result = value;                                                                    \
            least = ranks_least(least, x);                                                         \
            if (operands > 1) least = ranks_least(least, y);                                       \
            if (operands > 2) least = ranks_least(least, z);                                       \
            least = ranks_least(least, result);                                                    \
            results[r] = row_canonical(result);                                                    \
        }                                                                                          \
        if (ranks_have_small(least)) {                                                             \
            run_by_rules(w, i, mask);                                                              \
            return;                                                                                \
        }                                                                                          \
        if (mask == ALL_LANES)                                                                     \
            for (int r = 0; r < WARP / ROW; r++) row_store(d + r * ROW, results[r]);               \
        else                                                                                       \
            i->rules.inner(w, i, mask);                                                            \
        if (i->rules.clamp != CLAMP_NONE) clamp_results(w, i, mask);                               \
    }
FLUSHED_OPERATIONS(DEFINE_FLUSHED)

/* A large divisor is rare, too. */
static void div_approx_flushed(struct warp *w, const struct insn *i, uint32_t mask)
{
    const lane_32 *b = LANES(u32, i->b);
    uint32_t beyond = 0; /* its sign: a magnitude is above 2^126 */
    EVERY_LANE beyond |= 0x7e800000 - (b[l] & 0x7fffffff);
    (beyond >> 31 ? run_by_rules : div_f32_flushed)(w, i, mask);
}

/* For .ftz of operations whose results are denormal only if an operand is. */
static void flushed_operands(struct warp *w, const struct insn *i, uint32_t mask)
{
    const lane_float *a = LANES(f32, i->a), *b = i->b == NO_SLOT ? a : LANES(f32, i->b);
    ranks least = ranks_of_none();
    for (int l = 0; l < WARP; l += ROW)
        least = ranks_least(ranks_least(least, row_load(a + l)), row_load(b + l));
    if (ranks_have_small(least)) {
        run_by_rules(w, i, mask);
        return;
    }
    i->rules.inner(w, i, mask);
    if (i->rules.clamp != CLAMP_NONE) clamp_results(w, i, mask);
}

#define ENTRY_FLUSHED(id, ...) {"flushed." #id ".f32", id##_f32_flushed, ""},
static const struct op entries[] = {{"by rules", run_by_rules, ""},
                                    {"resized", run_resized, ""},
                                    {"flushed.min.f32", flushed_operands, ""},
                                    {"flushed.max.f32", flushed_operands, ""},
                                    {"flushed.abs.f32", flushed_operands, ""},
                                    {"flushed.neg.f32", flushed_operands, ""},
                                    {"flushed.sqrt.f32", flushed_operands, ""},
                                    {"flushed.div.approx.f32", div_approx_flushed, ""},
                                    FLUSHED_OPERATIONS(ENTRY_FLUSHED) OPERATIONS(ENTRY_ROUNDED)
                                        OPERATIONS(ENTRY_CLAMPED)};
DEFINE_OP_TABLE(ops_rules, entries);
