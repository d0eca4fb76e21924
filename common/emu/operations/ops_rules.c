/*
 * ops_rules.c — modifiers that any floating-point operation may have: .rz .rm .rp, .ftz, .sat and
 * .relu (PTX ISA, "Floating-Point Instructions"). A wrapper sets the CPU's mode, calls the
 * operation, and clamps its results. The decoder chooses the wrapper (operations.h).
 */
#include "ops_flush.h"
#include <fenv.h>
#if defined __x86_64__
#include <immintrin.h>
#else
#include "rounding.h"
#endif

/* ---- the CPU's mode: rounding, and zeros in place of denormal operands and results ---- */

#if defined __x86_64__
enum {
    FLUSH_BITS = 0x8040,    /* bits of MXCSR */
    ROUNDING_BITS = 0x6000, /* the place of FE_TOWARDZERO and so on, */
    ROUNDING_SHIFT = 3,     /* which <fenv.h> defines for the x87's control word */
};

static inline void run_in_mode(struct warp *w, const struct insn *i, uint32_t mask)
{
    unsigned before = _mm_getcsr();
    unsigned rounding = (unsigned)i->rules.rounding << ROUNDING_SHIFT;
    unsigned flush = i->rules.flush ? FLUSH_BITS : 0;
    _mm_setcsr((before & ~(unsigned)(ROUNDING_BITS | FLUSH_BITS)) | rounding | flush);
    i->rules.inner(w, i, mask);
    _mm_setcsr(before);
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

/* ---- .sat and .relu ---- */

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
static void clamp_results(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum ptx_type type = i->rules.type;
    enum clamp clamp = i->rules.clamp;
    if (type == PTX_F64) {
        lane_double *d = LANES(f64, i->d);
        FOR_LANES(d, d[l] > 0 ? (d[l] < 1 ? d[l] : 1) : 0);
    } else if (type == PTX_F32) {
        lane_float *d = LANES(f32, i->d);
        FOR_LANES(d, d[l] > 0 ? (d[l] < 1 ? d[l] : 1) : 0);
    } else {
        bool pair = ptx_type_size(type) == 4;
        lane_32 *d = LANES(u32, i->d);
        FOR_LANES(d, clamp_half(d[l] & 0xffff, type, clamp) |
                         (pair ? clamp_half(d[l] >> 16, type, clamp) << 16 : 0));
    }
}

/* ---- the wrappers ---- */

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

/* ---- .ftz of frequent operations, without a change of the CPU's mode, which would take longer
 * than they do. The decoder prefers these to the wrapper. ---- */

#define FLUSHED(operand) row_flush(row_load(operand + l))
#define FLUSHED_OPERATIONS(X)                                                                      \
    X(add, FLUSHED(a) + FLUSHED(b))                                                                \
    X(sub, FLUSHED(a) - FLUSHED(b)) X(mul, FLUSHED(a) * FLUSHED(b))                                \
        X(div, FLUSHED(a) / FLUSHED(b)) X(fma, row_fma(FLUSHED(a), FLUSHED(b), FLUSHED(c)))

/* A result may be flushed that would be rounded up to the smallest normal number, because it is
 * denormal before. Where there is such a number, the CPU decides. */
#define DEFINE_FLUSHED(id, value)                                                                  \
    static void id##_flushed(struct warp *w, const struct insn *i, uint32_t mask)                  \
    {                                                                                              \
        lane_float *d = LANES(f32, i->d), results[WARP];                                           \
        const lane_float *a = LANES(f32, i->a), *b = LANES(f32, i->b);                             \
        const lane_float *c = i->c == NO_SLOT ? b : LANES(f32, i->c); /* of fma */                 \
        uint32_t close = 0;                                                                        \
        (void)c;                                                                                   \
        INDEPENDENT for (int l = 0; l < WARP; l += ROW)                                            \
        {                                                                                          \
            row result = row_canonical(value);                                                     \
            close |= row_is_close(result);                                                         \
            row_store(results + l, row_flush(result));                                             \
        }                                                                                          \
        if (close) {                                                                               \
            run_by_rules(w, i, mask);                                                              \
            return;                                                                                \
        }                                                                                          \
        FOR_LANES(d, results[l]);                                                                  \
        if (i->rules.clamp != CLAMP_NONE) clamp_results(w, i, mask);                               \
    }
FLUSHED_OPERATIONS(DEFINE_FLUSHED)

#define ENTRY_FLUSHED(id, ...) {"flushed." #id ".f32", id##_flushed, ""},
static const struct op entries[] = {{"by rules", run_by_rules, ""},
                                    {"resized", run_resized, ""},
                                    FLUSHED_OPERATIONS(ENTRY_FLUSHED)};
DEFINE_OP_TABLE(ops_rules, entries);
