/*
 * ops_flush.h — .ftz on the lanes of a register, a few of them at once: a denormal becomes a zero
 * of its sign. In plain C the compiler makes a choice of it, which takes AVX2 three times as long
 * as a mask. Only for the ops_*.c files, which are compiled for several instruction sets.
 */
#ifndef EMU_OPS_FLUSH_H
#define EMU_OPS_FLUSH_H

#include "common/emu/ptx/half.h"
#include "ops.h"

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

#endif
