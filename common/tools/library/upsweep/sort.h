/*
 * sort.h — radix sort of device memory: keys alone, or keys with values. Equal keys keep their
 * order (the sort is stable).
 *
 *     upsweep_sort_keys_TYPE    keys alone           u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64
 *     upsweep_sort_pairs_TYPE   keys and values, or keys and their indices (argsort)
 *
 * version.h says what all calls have in common.
 *
 * Order: that of the numbers. For floats it is a total order of the bits: NaN with the sign bit
 * set, -infinity, negative numbers, -0, +0, positive numbers, +infinity, NaN. So -0 comes before
 * +0, and NaN are at both ends. NumPy and PyTorch are different: there -0 equals +0, and each NaN
 * comes last. f16 and bf16 are given by their bits.
 */
#ifndef UPSWEEP_SORT_H
#define UPSWEEP_SORT_H

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

struct upsweep_sort_options {
    bool descending; /* the largest key first. Equal keys keep their order here, too */
    bool cleared;    /* the workspace was cleared once: see version.h */

    /* Sort only by the bits begin_bit, …, end_bit - 1 of the keys, counted from the lowest one.
     * Keys that are equal in these bits keep their order. end_bit = 0: up to the highest bit. Bits
     * of signed numbers and floats are those of an unsigned key in the same order: the sign bit is
     * turned around, and so are all other bits of a negative float. n is below 2^32. It costs one
     * more launch, and unless keys have 4 bytes and no values, a gather of the keys. */
    unsigned begin_bit, end_bit;
};

/*
 * out, in      n keys each. They do not overlap, and `in` is not changed.
 * values_out   n values of value_bytes: 1, 2, 4, 8 or 16. values_out[i] belongs to out[i].
 * values_in    n values. NULL: the values are the indices 0, 1, 2, … of the keys in `in`, as
 *              uint32_t (value_bytes 4) or uint64_t (8), so values_out says where each key was. The
 *              arrays of values do not overlap each other or the keys.
 * n            For pairs: below 2^32. Values of 4 bytes move with their keys; those of other sizes
 *              are gathered at the end, by an index of 4 bytes that has moved with the keys.
 * Refused (cudaErrorInvalidValue): a workspace that is too small or misaligned; `out` and `in`, or
 * values_out and values_in, that overlap; another value_bytes; n that is too large; end_bit beyond
 * the key, or not above begin_bit. Options, value_bytes and n are refused for n = 0 and for a
 * workspace of NULL as well.
 */
#define UPSWEEP_SORT_(name, Key)                                                                   \
    cudaError_t upsweep_sort_keys_##name(void *workspace, size_t *bytes, Key *out, const Key *in,  \
                                         size_t n, const struct upsweep_sort_options *options,     \
                                         cudaStream_t stream);                                     \
    cudaError_t upsweep_sort_pairs_##name(                                                         \
        void *workspace, size_t *bytes, Key *out, void *values_out, const Key *in,                 \
        const void *values_in, size_t value_bytes, size_t n,                                       \
        const struct upsweep_sort_options *options, cudaStream_t stream)

UPSWEEP_SORT_(u8, uint8_t);
UPSWEEP_SORT_(u16, uint16_t);
UPSWEEP_SORT_(u32, uint32_t);
UPSWEEP_SORT_(u64, uint64_t);
UPSWEEP_SORT_(i8, int8_t);
UPSWEEP_SORT_(i16, int16_t);
UPSWEEP_SORT_(i32, int32_t);
UPSWEEP_SORT_(i64, int64_t);
UPSWEEP_SORT_(f16, uint16_t);
UPSWEEP_SORT_(bf16, uint16_t);
UPSWEEP_SORT_(f32, float);
UPSWEEP_SORT_(f64, double);

#undef UPSWEEP_SORT_

#ifdef __cplusplus
}
#endif

#endif
