/*
 * select.h — selection from device memory: the elements that are kept, in their order, without gaps
 * (stream compaction); their indices (nonzero); or the kept ones first and the others after them
 * (partition).
 *
 *     upsweep_select_TYPE           elements that a predicate keeps        f32 f64 i32 i64
 *     upsweep_select_flagged_BITS   elements whose flag is not 0           b8 b16 b32 b64 b128
 *     upsweep_partition_BITS        by flags: kept ones, then the others   b8 b16 b32 b64 b128
 *     upsweep_nonzero_TYPE          indices of elements that are not 0, as uint64_t (the bits of
 *                                   NumPy's and PyTorch's int64)
 *     upsweep_nonzero32_TYPE        the same as uint32_t; n at most 2^32
 *
 * version.h says what all calls have in common; select.cuh has the same with a predicate of your
 * own, which nvcc compiles.
 *
 * out   Room for what is kept: at most n elements, and n for a partition. What lies behind the kept
 *       elements is left as it is.
 * kept  8 bytes of device memory: how many elements were kept. The host learns it only by a copy.
 *       n = 0 sets it to 0.
 * Refused (cudaErrorInvalidValue): a workspace that is too small or misaligned; n of 2^31 tiles or
 * more (2^40 elements at least); n above 2^32 for nonzero32; a predicate that is NULL or has more
 * than UPSWEEP_INTERVALS_MOST intervals. Predicates are refused for n = 0, too.
 */
#ifndef UPSWEEP_SELECT_H
#define UPSWEEP_SELECT_H

#include "version.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct upsweep_select_options {
    bool cleared; /* the workspace was cleared once: see version.h */
    bool inverse; /* keep what would be left out. Not for upsweep_select_TYPE:
                     cudaErrorNotSupported */
};

/* ---- by a predicate -------------------------------------------------------------------------- */

#define UPSWEEP_INTERVALS_MOST 16

/* A predicate is a union of intervals of keys: unsigned numbers as wide as the elements and in the
 * same order, which upsweep_key_… computes. An interval has the keys low, …, low + span. */
struct upsweep_interval {
    uint64_t low, span;
};

/* No interval: nothing is kept. Read during the call only. */
struct upsweep_predicate {
    unsigned count;
    struct upsweep_interval interval[UPSWEEP_INTERVALS_MOST];
};

/* The keys of elements: x < y exactly if key(x) < key(y). But -0 comes just before +0, and NaNs lie
 * below -INFINITY or above INFINITY, by their sign bit. */
static inline uint64_t upsweep_key_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static inline uint64_t upsweep_key_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}

static inline uint64_t upsweep_key_i32(int32_t x) { return (uint32_t)x ^ 0x80000000u; }
static inline uint64_t upsweep_key_i64(int64_t x) { return (uint64_t)x ^ 0x8000000000000000u; }

/* The elements from the first key to the last one, both included; none if `last` is below `first`.
 * x > 0 for floats: upsweep_between(upsweep_key_f32(0) + 1, upsweep_key_f32(INFINITY)). */
static inline struct upsweep_predicate upsweep_between(uint64_t first, uint64_t last)
{
    struct upsweep_predicate p = {first <= last, {{first, last - first}}};
    return p;
}

#define UPSWEEP_SELECT_REST_                                                                       \
    size_t n, const struct upsweep_select_options *options, cudaStream_t stream
#define UPSWEEP_SELECT_(name, T)                                                                   \
    cudaError_t upsweep_select_##name(void *workspace, size_t *bytes, T *out, uint64_t *kept,      \
                                      const T *in, const struct upsweep_predicate *predicate,      \
                                      UPSWEEP_SELECT_REST_)

UPSWEEP_SELECT_(f32, float);
UPSWEEP_SELECT_(f64, double);
UPSWEEP_SELECT_(i32, int32_t);
UPSWEEP_SELECT_(i64, int64_t);

/* ---- by flags -------------------------------------------------------------------------------- */

/* Keeps in[i] where flags[i] is not 0 (inverse: is 0). Elements are 1, 2, 4, 8 or 16 bytes of any
 * type, and aligned to that. partition also puts the others, in their order, behind the kept ones.
 */
#define UPSWEEP_FLAGGED_(name)                                                                     \
    cudaError_t upsweep_select_flagged_##name(void *workspace, size_t *bytes, void *out,           \
                                              uint64_t *kept, const void *in,                      \
                                              const uint8_t *flags, UPSWEEP_SELECT_REST_);         \
    cudaError_t upsweep_partition_##name(void *workspace, size_t *bytes, void *out,                \
                                         uint64_t *kept, const void *in, const uint8_t *flags,     \
                                         UPSWEEP_SELECT_REST_)

UPSWEEP_FLAGGED_(b8);
UPSWEEP_FLAGGED_(b16);
UPSWEEP_FLAGGED_(b32);
UPSWEEP_FLAGGED_(b64);
UPSWEEP_FLAGGED_(b128);

/* ---- indices --------------------------------------------------------------------------------- */

/* The indices of elements that are not 0 (inverse: that are 0), ascending. -0 is 0, and NaN is not.
 * Types without a sign have the names of those with one: i8 is also for uint8_t and bool. f16 and
 * bf16 are given by their bits. */
#define UPSWEEP_NONZERO_(name, T)                                                                  \
    cudaError_t upsweep_nonzero_##name(void *workspace, size_t *bytes, uint64_t *out,              \
                                       uint64_t *kept, const T *in, UPSWEEP_SELECT_REST_);         \
    cudaError_t upsweep_nonzero32_##name(void *workspace, size_t *bytes, uint32_t *out,            \
                                         uint64_t *kept, const T *in, UPSWEEP_SELECT_REST_)

UPSWEEP_NONZERO_(i8, int8_t);
UPSWEEP_NONZERO_(i16, int16_t);
UPSWEEP_NONZERO_(i32, int32_t);
UPSWEEP_NONZERO_(i64, int64_t);
UPSWEEP_NONZERO_(f16, uint16_t);
UPSWEEP_NONZERO_(bf16, uint16_t);
UPSWEEP_NONZERO_(f32, float);
UPSWEEP_NONZERO_(f64, double);

#undef UPSWEEP_NONZERO_
#undef UPSWEEP_FLAGGED_
#undef UPSWEEP_SELECT_
#undef UPSWEEP_SELECT_REST_

#ifdef __cplusplus
}
#endif

#endif
