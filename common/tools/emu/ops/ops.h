/* ops.h — macros that define operations on 32 lanes, and what the operations share. */
#ifndef EMU_OPS_H
#define EMU_OPS_H

#include "common/tools/emu/machine/machine.h"
#include "common/tools/emu/ptx/half.h"

/* ---- the macros ------------------------------------------------------------------------------ */

/* Macros that define operations on 32 lanes, and the tables that list operations.
 *
 * Each ops_*.c holds one kind of operation and ends with a table from PTX's names to functions.
 * These files are compiled for processors with AVX2 (EMU_ISA = v3), for any processor (base), or
 * for both (emu.mk); operations.c chooses a table when the program starts. The loops over lanes are
 * plain, and the compiler vectorizes them.
 *
 * A PTX type (T) of 8 or 16 bits is stored as a wider type (L) for each lane. */

struct op_table {
    const struct op *ops;
    size_t count;
};

#define EMU_PASTE_(a, b) a##b
#define EMU_PASTE(a, b)  EMU_PASTE_(a, b)
/* The table that an ops_*.c defines: ops_integer → ops_integer_v3. */
#define OP_TABLE(name) EMU_PASTE(name##_, EMU_ISA)
#define DEFINE_OP_TABLE(name, entries)                                                             \
    const struct op_table OP_TABLE(name) = {entries, sizeof(entries) / sizeof *(entries)}

#define INLINE static inline __attribute__((always_inline))

/* ---- types: T of the value, L of a lane, U unsigned as wide as T; W is the operand's letter */
typedef float lane_float __attribute__((may_alias));
typedef double lane_double __attribute__((may_alias));
typedef uint32_t lane_32 __attribute__((may_alias));
typedef uint64_t lane_64 __attribute__((may_alias));

#define T_u8  uint8_t
#define L_u8  lane_32
#define U_u8  uint8_t
#define W_u8  "4"
#define T_s8  int8_t
#define L_s8  lane_32
#define U_s8  uint8_t
#define W_s8  "4"
#define T_u16 uint16_t
#define L_u16 lane_32
#define U_u16 uint16_t
#define W_u16 "4"
#define T_s16 int16_t
#define L_s16 lane_32
#define U_s16 uint16_t
#define W_s16 "4"
#define T_u32 uint32_t
#define L_u32 lane_32
#define U_u32 uint32_t
#define W_u32 "4"
#define T_s32 int32_t
#define L_s32 lane_32
#define U_s32 uint32_t
#define W_s32 "4"
#define T_u64 uint64_t
#define L_u64 lane_64
#define U_u64 uint64_t
#define W_u64 "8"
#define T_s64 int64_t
#define L_s64 lane_64
#define U_s64 uint64_t
#define W_s64 "8"
#define T_f32 float
#define L_f32 lane_float
#define U_f32 float
#define W_f32 "4"
#define T_f64 double
#define L_f64 lane_double
#define U_f64 double
#define W_f64 "8"

/* The lanes of an operand, as an array. */
#define LANES(type, slot) ((L_##type *)slot_at(w, slot))

/* Tells gcc that no lane reads what another lane writes, so it may vectorize the loop. Clang needs
 * no hint; its own pragma would warn about loops that it cannot vectorize. */
#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define EVERY_LANE INDEPENDENT for (int l = 0; l < WARP; l++)

/* Sets a predicate for the lanes in mask; does nothing for NO_SLOT. */
static inline void set_predicate(struct warp *w, slot s, uint32_t mask, uint32_t bits)
{
    if (s == NO_SLOT) return;
    uint32_t *p = slot_at(w, s);
    *p = (*p & ~mask) | (bits & mask);
}

/* d[lane] = value for the lanes in mask. `value` may use the lane's number, l. */
#define FOR_LANES(d, value)                                                                        \
    do {                                                                                           \
        if (mask == ALL_LANES) {                                                                   \
            INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = (value);                             \
        } else {                                                                                   \
            INDEPENDENT for (int l = 0; l < WARP; l++)                                             \
            {                                                                                      \
                __typeof__(d[0] + 0) keep = d[l], set = (value);                                   \
                d[l] = mask >> l & 1 ? set : keep;                                                 \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Each of these defines the operation `id` on 32 lanes by its value for lane l. */
#define DEFINE_UNARY(id, key, type, value)                                                         \
    static inline T_##type id##_##type##_lane(T_##type a) { return (T_##type)(value); }            \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a);                                                     \
        FOR_LANES(d, (U_##type)id##_##type##_lane((T_##type)a[l]));                                \
    }
#define DEFINE_BINARY(id, key, type, value)                                                        \
    static inline T_##type id##_##type##_lane(T_##type a, T_##type b)                              \
    {                                                                                              \
        return (T_##type)(value);                                                                  \
    }                                                                                              \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b);                             \
        FOR_LANES(d, (U_##type)id##_##type##_lane((T_##type)a[l], (T_##type)b[l]));                \
    }
#define DEFINE_TERNARY(id, key, type, value)                                                       \
    static inline T_##type id##_##type##_lane(T_##type a, T_##type b, T_##type c)                  \
    {                                                                                              \
        return (T_##type)(value);                                                                  \
    }                                                                                              \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a), *b = LANES(type, i->b), *c = LANES(type, i->c);     \
        FOR_LANES(d,                                                                               \
                  (U_##type)id##_##type##_lane((T_##type)a[l], (T_##type)b[l], (T_##type)c[l]));   \
    }
/* For shifts: a has the operation's type, b has 32 bits. */
#define DEFINE_SHIFT(id, key, type, value)                                                         \
    static inline T_##type id##_##type##_lane(T_##type a, uint32_t b)                              \
    {                                                                                              \
        return (T_##type)(value);                                                                  \
    }                                                                                              \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        L_##type *d = LANES(type, i->d);                                                           \
        const L_##type *a = LANES(type, i->a);                                                     \
        const lane_32 *b = LANES(u32, i->b);                                                       \
        FOR_LANES(d, (U_##type)id##_##type##_lane((T_##type)a[l], b[l]));                          \
    }
/* For popc and clz: a has the operation's type, the result has 32 bits. */
#define DEFINE_COUNT(id, key, type, value)                                                         \
    static inline uint32_t id##_##type##_lane(T_##type a) { return (uint32_t)(value); }            \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const L_##type *a = LANES(type, i->a);                                                     \
        FOR_LANES(d, id##_##type##_lane((T_##type)a[l]));                                          \
    }

#define ENTRY_UNARY(id, key, type, value)  {key "." #type, id##_##type, W_##type W_##type},
#define ENTRY_BINARY(id, key, type, value) {key "." #type, id##_##type, W_##type W_##type W_##type},
#define ENTRY_TERNARY(id, key, type, value)                                                        \
    {key "." #type, id##_##type, W_##type W_##type W_##type W_##type},
#define ENTRY_SHIFT(id, key, type, value) {key "." #type, id##_##type, W_##type W_##type "4"},
#define ENTRY_COUNT(id, key, type, value) {key "." #type, id##_##type, "4" W_##type},

/* ---- .ftz ------------------------------------------------------------------------------------ */

/* .ftz on the lanes of a register, a few of them at once: a denormal becomes a zero
 * of its sign. In plain C the compiler makes a choice of it, which takes AVX2 three times as long
 * as a mask. Only for the ops_*.c files, which are compiled for several instruction sets. */

#define SMALLEST_NORMAL 0x1p-126f

/* A number's rank orders magnitudes, with zero above all others: twice its bits, without the sign,
 * minus 1. Those of denormal numbers are the least. A result that equals the smallest normal number
 * may have been denormal before it was rounded, and .ftz flushes it then. */
enum { SMALLEST_RANK = 0x00ffffff }; /* of the smallest normal number */

#if defined __AVX2__ && !defined __AVX512F__
#include <immintrin.h>
enum { ROW = 8 };
typedef __m256 row;
static inline row row_load(const lane_float *from) { return _mm256_loadu_ps((const float *)from); }
/* Volatile, so that gcc stores each row from its register, and does not copy an array of rows. */
typedef row volatile row_in_memory __attribute__((aligned(4), may_alias));
static inline void row_store(lane_float *to, row a) { *(row_in_memory *)to = a; }
static inline row row_flush(row a)
{
    row magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
    row is_small = _mm256_cmp_ps(magnitude, _mm256_set1_ps(SMALLEST_NORMAL), _CMP_LT_OQ);
    return _mm256_xor_ps(a, _mm256_and_ps(is_small, magnitude));
}
static inline row row_canonical(row a)
{
    row nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    return _mm256_blendv_ps(a, nan, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
static inline row row_fma(row a, row b, row c) { return _mm256_fmadd_ps(a, b, c); }
typedef __m256i ranks;
static inline ranks ranks_of_none(void) { return _mm256_set1_epi32(-1); }
static inline ranks ranks_least(ranks least, row a)
{
    __m256i bits = _mm256_castps_si256(a), twice = _mm256_add_epi32(bits, bits);
    return _mm256_min_epu32(least, _mm256_add_epi32(twice, _mm256_set1_epi32(-1)));
}
static inline bool ranks_have_small(ranks least)
{
    __m256i limited = _mm256_min_epu32(least, _mm256_set1_epi32(SMALLEST_RANK));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(limited, least)) != 0;
}
#else
enum { ROW = 1 };
typedef float row;
static inline row row_load(const lane_float *from) { return *from; }
static inline void row_store(lane_float *to, row a) { *to = a; }
static inline row row_flush(row a) { return flush_f32(a); }
static inline row row_canonical(row a) { return a == a ? a : f32_of_bits(0x7fffffff); }
static inline row row_fma(row a, row b, row c) { return __builtin_fmaf(a, b, c); }
typedef uint32_t ranks;
static inline ranks ranks_of_none(void) { return UINT32_MAX; }
static inline ranks ranks_least(ranks least, row a)
{
    uint32_t rank = 2 * bits_of_f32(a) - 1;
    return rank < least ? rank : least;
}
static inline bool ranks_have_small(ranks least) { return least <= SMALLEST_RANK; }
#endif

static inline void flush_lanes(lane_float *to, const lane_float *from)
{
    INDEPENDENT for (int l = 0; l < WARP; l += ROW)
        row_store(to + l, row_flush(row_load(from + l)));
}

/* ---- 16-bit floats --------------------------------------------------------------------------- */

/* Operations on 16-bit floats, for the ops_*.c files: each is defined twice, for one
 * value a lane, and for two packed values (x2). They are computed in float or double with enough
 * bits, so that they are as if rounded once. */

#if defined __F16C__
#include <immintrin.h>
#endif

static inline float canonical(float value)
{
    return value == value ? value : f32_of_bits(0x7fffffff);
}
static inline double nan_or(double a, double otherwise)
{
    return a == a ? otherwise : f64_of_bits(bits_of_f64(a) | QUIET_F64);
}
static inline uint16_t f16(double value) { return f16_of_f64(value, ROUND_NEAREST); }
static inline uint16_t bf16(double value) { return bf16_of_f64(value, ROUND_NEAREST); }

/* From id_type_one(), which has the low 16 bits of each operand, and whether to flush. */
#define DEFINE_HALVES_1(id, type)                                                                  \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a);                                                       \
        FOR_LANES(d, id##_##type##_one(a[l], i->rules.flush));                                     \
    }                                                                                              \
    static void id##_##type##x2(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const lane_32 *a = LANES(u32, i->a);                                                       \
        FOR_LANES(d, id##_##type##_one(a[l], i->rules.flush) |                                     \
                         id##_##type##_one(a[l] >> 16, i->rules.flush) << 16);                     \
    }
#define ENTRY_HALVES_1(id, type)                                                                   \
    {#id "." #type, id##_##type, "44"}, {#id "." #type "x2", id##_##type##x2, "44"},

/* ---- many values at once --------------------------------------------------------------------- */

/* As floats, which hold more than twice the digits of a half, so that the second rounding changes
 * no sum, difference or product. */

enum { HALVES = 2 * WARP };
typedef uint16_t half_16 __attribute__((may_alias));

#define EACH_HALF(statement) INDEPENDENT for (int k = 0; k < count; k++) statement

#if defined __F16C__
enum { AT_ONCE = 8 };
INLINE void from_f16(float *to, const half_16 *from, int count)
{
    for (int k = 0; k < count; k += AT_ONCE)
        _mm256_storeu_ps(to + k, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + k))));
}
INLINE void to_f16(half_16 *to, const float *from, int count)
{
    for (int k = 0; k < count; k += AT_ONCE)
        _mm_storeu_si128((__m128i *)(to + k),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + k), _MM_FROUND_TO_NEAREST_INT));
    EACH_HALF(to[k] = (to[k] & 0x7fff) > 0x7c00 ? 0x7fff : to[k]);
}
#else
INLINE void from_f16(float *to, const half_16 *from, int count)
{
    EACH_HALF(to[k] = f32_of_f16(from[k]));
}
INLINE void to_f16(half_16 *to, const float *from, int count)
{
    EACH_HALF(to[k] = f16_of_f32(from[k]));
}
#endif
INLINE void from_bf16(float *to, const half_16 *from, int count)
{
    EACH_HALF(to[k] = f32_of_bf16(from[k]));
}
INLINE void to_bf16(half_16 *to, const float *from, int count)
{
    EACH_HALF(to[k] = bf16_of_f32(from[k]));
}

#define DEFINE_WIDTHS(type)                                                                        \
    INLINE void widen_##type(float *to, const half_16 *from, int count, bool flush)                \
    {                                                                                              \
        half_16 flushed[HALVES];                                                                   \
        if (flush) EACH_HALF(flushed[k] = flush_##type(from[k], true));                            \
        from_##type(to, flush ? flushed : from, count);                                            \
    }                                                                                              \
    INLINE void narrow_##type(half_16 *to, const float *from, int count, bool flush)               \
    {                                                                                              \
        to_##type(to, from, count);                                                                \
        if (flush) EACH_HALF(to[k] = flush_##type(to[k], true));                                   \
    }
DEFINE_WIDTHS(f16)
DEFINE_WIDTHS(bf16)

/* The low halves of the lanes. */
INLINE const half_16 *low_halves(half_16 *to, const lane_32 *from)
{
    INDEPENDENT for (int l = 0; l < WARP; l++) to[l] = (uint16_t)from[l];
    return to;
}

/* From id_type_many(), which has `count` values of each operand. */
#define DEFINE_MANY_HALVES(id, type)                                                               \
    static void id##_##type(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        half_16 r[WARP], p[WARP], q[WARP], s[WARP];                                                \
        lane_32 *d = LANES(u32, i->d);                                                             \
        const half_16 *a = low_halves(p, LANES(u32, i->a)), *b = low_halves(q, LANES(u32, i->b));  \
        const half_16 *c = i->c == NO_SLOT ? b : low_halves(s, LANES(u32, i->c));                  \
        id##_##type##_many(r, a, b, c, WARP, i->rules.flush);                                      \
        FOR_LANES(d, (uint32_t)r[l]);                                                              \
    }                                                                                              \
    static void id##_##type##x2(struct warp *w, const struct insn *i, uint32_t mask)               \
    {                                                                                              \
        lane_32 r[WARP], *d = LANES(u32, i->d);                                                    \
        const half_16 *a = (half_16 *)LANES(u32, i->a), *b = (half_16 *)LANES(u32, i->b);          \
        const half_16 *c = i->c == NO_SLOT ? b : (half_16 *)LANES(u32, i->c);                      \
        id##_##type##_many((half_16 *)r, a, b, c, HALVES, i->rules.flush);                         \
        FOR_LANES(d, r[l]);                                                                        \
    }

/* An operation by its value for the floats a and b. */
#define DEFINE_HALF_BINARY(id, key, type, value)                                                   \
    INLINE float id##_##type##_value(float a, float b) { return value; }                           \
    INLINE void id##_##type##_many(half_16 *d, const half_16 *a, const half_16 *b,                 \
                                   const half_16 *c, int count, bool flush)                        \
    {                                                                                              \
        float x[HALVES], y[HALVES];                                                                \
        (void)c;                                                                                   \
        widen_##type(x, a, count, flush);                                                          \
        widen_##type(y, b, count, flush);                                                          \
        EACH_HALF(x[k] = id##_##type##_value(x[k], y[k]));                                         \
        narrow_##type(d, x, count, flush);                                                         \
    }                                                                                              \
    DEFINE_MANY_HALVES(id, type)
#define ENTRY_HALF_BINARY(id, key, type, value)                                                    \
    {key "." #type, id##_##type, "444"}, {key "." #type "x2", id##_##type##x2, "444"},

/* ---- roundings ------------------------------------------------------------------------------- */

/* Carries out floating-point operations with a rounding mode and with .ftz where the
 * processor has no modes for them. On x86 ops_rules.c uses the modes instead. */

#if !defined __x86_64__
/* Runs insn->rules.inner on the lanes in `mask`, with the rounding and the flush-to-zero of
 * insn->rules, in software, which is slower. */
void rounding_run(struct warp *, const struct insn *, uint32_t mask);

/* The operation with this function; NULL: no operation has it. (operations.c) */
const struct op *op_of_function(op_fn);
#endif

/* ---- arithmetic in integers ------------------------------------------------------------------ */

/* Floating-point arithmetic in integers, for processors that have no rounding modes
 * and no flush-to-zero (WebAssembly). The result is rounded once, from the exact one. */

enum soft_operation {
    SOFT_ADD,
    SOFT_SUB,
    SOFT_MUL,
    SOFT_FMA,
    SOFT_DIV,
    SOFT_SQRT,
    SOFT_RCP,
    SOFT_CONVERT, /* only rounds */
};

struct soft_rules {
    bool is_double; /* the result is rounded to 53 bits, otherwise to the 24 of a float */
    int rounding;   /* FE_… of <fenv.h> */
    bool flush;     /* a result below the normal numbers becomes a zero of its sign */
};

/* Computes with operands that the result's type can hold; SOFT_CONVERT takes any double. The result
 * is a float's value if it is not a double. Denormal operands are not flushed. */
double soft_float(enum soft_operation, const double operands[3], const struct soft_rules *);
/* Rounds an integer. */
double soft_of_integer(bool is_negative, uint64_t magnitude, const struct soft_rules *);

/* ---- for builtin.c and runtime/ -------------------------------------------------------------- */

/* A lane's argument at an index; 0 if the argument has fewer than `bytes` bytes. */
uint64_t builtin_argument(const struct warp *, const struct insn *, int lane, unsigned index,
                          size_t bytes);
void builtin_set_result(struct warp *, const struct insn *, int lane, const void *value,
                        size_t bytes);
/* Memory of the heap of malloc; 0: the heap is exhausted. */
uint64_t builtin_allocate(struct warp *, uint64_t bytes);
/* Frees it. False: a fault. */
bool builtin_release(struct warp *, const struct insn *, int lane, uint64_t address);
/* Reads `bytes` bytes at a lane's generic address, in global memory, shared memory, the lane's
 * local memory or the kernel's parameters. False: the lane may not read them. */
bool builtin_read(const struct warp *, int lane, uint64_t address, void *to, size_t bytes);
enum { STRING_BYTES = 1024 };
/* Reads a string from device memory; cuts it at STRING_BYTES and at the end of the memory. */
void builtin_read_string(const struct warp *, int lane, uint64_t address, char *text);
bool builtin_write(struct warp *, int lane, uint64_t address, const void *from, size_t bytes);

/* ---- matrices -------------------------------------------------------------------------------- */

/* What the files of this folder share: which lane holds which element of a matrix,
 * and sums of products as tensor cores form them.
 *
 * matrix_move.c says where an element is, matrix_product.c carries out mma, matrix_product.c sums
 * floating-point numbers, matrix_move.c moves matrices between memory and registers. */

/* The largest number of rows, of columns, and of elements in a row of a. */
enum { MOST_ROWS = 32, MOST_COLUMNS = 32, MOST_K = 64 };

/* ---- matrix_move.c */

/* Do all lanes of the warp take part? False: a fault. */
bool has_all_lanes(struct warp *, const struct insn *, uint32_t mask);

/* ---- matrix_move.c */

struct place {
    unsigned row, column;
};

/* The elements of a register: 1, or as many as fit. Single bits count as words of 32 bits. */
unsigned elements_of_register(const struct matrix_fragment *);
/* Where element number `part` of a lane's register stands in the matrix. Single bits: the column of
 * a, or the row of b, is that of a word. */
struct place spot_of_element(const struct matrix_fragment *, unsigned lane, unsigned reg,
                             unsigned part);

/* ---- matrix_product.c */

/* A floating-point number: significand · 2^exponent. `leading` is the exponent of the place before
 * the binary point: a subnormal number's leading bit is not there. */
struct real {
    int32_t significand, exponent;
    int16_t leading;
    enum { REAL_FINITE, REAL_INFINITE, REAL_NAN } kind;
    bool is_negative;
};

#endif
