/* operations.c — finds operations by key; rounds, flushes and saturates around them. */
#include "ops.h"
#include <fenv.h>
#include <math.h>
#include <string.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

/* ---- the tables for this processor */

#define DECLARE(isa)                                                                               \
    extern const struct op_table ops_integer_##isa, ops_float_##isa, ops_compare_##isa,            \
        ops_bits_##isa, ops_move_##isa, ops_convert_##isa, ops_access_##isa, ops_half_##isa,       \
        ops_convert_small_##isa, ops_video_##isa, ops_param_##isa, ops_atomic_##isa,               \
        ops_address_##isa;
#define TABLES(isa)                                                                                \
    {                                                                                              \
        &ops_integer_##isa, &ops_float_##isa, &ops_compare_##isa, &ops_bits_##isa,                 \
            &ops_move_##isa, &ops_convert_##isa, &ops_access_##isa, &ops_half_##isa,               \
            &ops_convert_small_##isa, &ops_video_##isa, &ops_param_##isa, &ops_atomic_##isa,       \
            &ops_address_##isa                                                                     \
    }
enum { TABLE_COUNT = 13 };

DECLARE(base)
static const struct op_table *const tables_base[TABLE_COUNT] = TABLES(base);
#if defined __x86_64__
DECLARE(v3)
static const struct op_table *const tables_v3[TABLE_COUNT] = TABLES(v3);
#endif

static const struct op_table *const *tables(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        return tables_v3;
#endif
    return tables_base;
}

static const struct op *find_exact(const char *key)
{
    const struct op_table *const *all = tables();
    for (int t = 0; t < TABLE_COUNT; t++)
        for (size_t k = 0; k < all[t]->count; k++)
            if (!strcmp(all[t]->ops[k].key, key)) return &all[t]->ops[k];
    return NULL;
}

const struct op *op_find(const char *key)
{
    char other[64];
    const struct op *op = find_exact(key);
    const char *type = strrchr(key, '.');
    if (op || !type || strlen(key) >= sizeof other) return op;

    /* Signed and unsigned addition are one operation, and bits are unsigned numbers. */
    strcpy(other, key);
    char *kind = other + (type - key) + 1;
    if (*kind != 's' && *kind != 'b' && *kind != 'f') return NULL;
    /* Only moves and selections of floats are found as unsigned operations: they move bits. */
    if (*kind == 'f' && strncmp(key, "mov.", 4) && strncmp(key, "selp.", 5)) return NULL;
    *kind = 'u';
    return find_exact(other);
}

/* ---- rounding, flushing, saturation */

#if defined __x86_64__
enum { FLUSH_BITS = 0x8040 }; /* bits of MXCSR: denormal results and inputs become zero */
static void set_flush(bool on)
{
    _mm_setcsr(on ? _mm_getcsr() | FLUSH_BITS : _mm_getcsr() & ~(unsigned)FLUSH_BITS);
}
#else
static void set_flush(bool on) { (void)on; } /* this processor keeps denormals */
#endif

/* Turns denormal results into zeros of the same sign, for operations on bits, which the CPU's mode
 * does not affect. */
static void flush_results(struct warp *w, const struct insn *i, uint32_t mask)
{
    const uint32_t exponent = 0x7f800000, sign = 0x80000000;
    lane_32 *d = LANES(u32, i->d);
    FOR_LANES(d, d[l] & exponent ? d[l] : d[l] & sign);
}

static uint32_t clamp_half(uint32_t bits, enum ptx_type type, enum clamp clamp)
{
    bool brain = type == PTX_BF16 || type == PTX_BF16X2;
    uint32_t infinity = brain ? 0x7f80 : 0x7c00, one = brain ? 0x3f80 : 0x3c00,
             magnitude = bits & 0x7fff;
    if (magnitude > infinity) return clamp == CLAMP_TO_UNIT ? 0 : 0x7fff; /* NaN */
    if (bits & 0x8000) return 0;
    return clamp == CLAMP_TO_UNIT && magnitude > one ? one : bits;
}

static void clamp_results(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum ptx_type type = i->rules.type;
    enum clamp clamp = i->rules.clamp;
    if (type == PTX_F64) {
        lane_double *d = LANES(f64, i->d);
        FOR_LANES(d, d[l] > 0 ? (d[l] < 1 ? d[l] : 1) : 0);
    } else if (type == PTX_F32) {
        lane_float *d = LANES(f32, i->d);
        FOR_LANES(d, d[l] > 0 ? (d[l] < 1 ? d[l] : 1) : 0); /* a NaN becomes 0 */
    } else {
        bool pair = ptx_type_size(type) == 4;
        lane_32 *d = LANES(u32, i->d);
        FOR_LANES(d, clamp_half(d[l] & 0xffff, type, clamp) |
                         (pair ? clamp_half(d[l] >> 16, type, clamp) << 16 : 0));
    }
}

void op_wrapped(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (i->rules.rounding != FE_TONEAREST) fesetround(i->rules.rounding);
    if (i->rules.flush) set_flush(true);
    i->rules.inner(w, i, mask);
    if (i->rules.flush) set_flush(false);
    if (i->rules.rounding != FE_TONEAREST) fesetround(FE_TONEAREST);
    if (i->rules.flush && i->rules.type == PTX_F32) flush_results(w, i, mask);
    if (i->rules.clamp != CLAMP_NONE) clamp_results(w, i, mask);
}

void op_resized(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (i->convert.wide_source != NO_SLOT) { /* the low half of a wide source */
        const lane_64 *wide = LANES(u64, i->convert.wide_source);
        lane_32 *narrow = LANES(u32, i->a);
        FOR_LANES(narrow, (uint32_t)wide[l]);
    }
    if (i->rules.rounding != FE_TONEAREST || i->rules.flush || i->rules.clamp != CLAMP_NONE)
        op_wrapped(w, i, mask);
    else
        i->rules.inner(w, i, mask);
    if (i->convert.wide_result != NO_SLOT) { /* a narrow result in a wide register */
        lane_64 *wide = LANES(u64, i->convert.wide_result);
        const lane_32 *narrow = LANES(u32, i->d);
        FOR_LANES(wide, i->is_signed ? (uint64_t)(int64_t)(int32_t)narrow[l] : narrow[l]);
    }
}
