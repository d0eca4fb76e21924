/*
 * ops_flush.h — .ftz on the lanes of a register, a few of them at once: a denormal becomes a zero
 * of its sign. In plain C the compiler makes a choice of it, which takes AVX2 three times as long
 * as a mask. Only for the ops_*.c files, which are compiled for several instruction sets.
 */
#ifndef EMU_OPS_FLUSH_H
#define EMU_OPS_FLUSH_H

#include "common/emu/decode/half.h"
#include "ops.h"

#define SMALLEST_NORMAL 0x1p-126f

#if defined __AVX2__ && !defined __AVX512F__
#include <immintrin.h>
enum { ROW = 8 };
typedef __m256 row;
static inline row row_load(const lane_float *from) { return _mm256_loadu_ps((const float *)from); }
static inline void row_store(lane_float *to, row a) { _mm256_storeu_ps((float *)to, a); }
static inline row row_magnitude(row a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline row row_flush(row a)
{
    row magnitude = row_magnitude(a);
    row is_small = _mm256_cmp_ps(magnitude, _mm256_set1_ps(SMALLEST_NORMAL), _CMP_LT_OQ);
    return _mm256_xor_ps(a, _mm256_and_ps(is_small, magnitude));
}
static inline row row_canonical(row a)
{
    row nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    return _mm256_blendv_ps(a, nan, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
/* Is a lane's magnitude the smallest normal number? */
static inline uint32_t row_is_close(row a)
{
    row smallest = _mm256_set1_ps(SMALLEST_NORMAL);
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(row_magnitude(a), smallest, _CMP_EQ_OQ));
}
static inline row row_fma(row a, row b, row c) { return _mm256_fmadd_ps(a, b, c); }
#else
enum { ROW = 1 };
typedef float row;
static inline row row_load(const lane_float *from) { return *from; }
static inline void row_store(lane_float *to, row a) { *to = a; }
static inline row row_flush(row a) { return flush_f32(a); }
static inline row row_canonical(row a) { return a == a ? a : f32_of_bits(0x7fffffff); }
static inline uint32_t row_is_close(row a) { return __builtin_fabsf(a) == SMALLEST_NORMAL; }
static inline row row_fma(row a, row b, row c) { return __builtin_fmaf(a, b, c); }
#endif

static inline void flush_lanes(lane_float *to, const lane_float *from)
{
    INDEPENDENT for (int l = 0; l < WARP; l += ROW)
        row_store(to + l, row_flush(row_load(from + l)));
}

#endif
