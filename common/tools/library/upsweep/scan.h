/*
 * scan.h — scans (prefix sums) of device memory: upsweep_scan_OPERATOR_TYPE.
 *
 *     operator    result for a part x0 … xi of the input      types
 *     sum         x0 + … + xi                                 f32 f64 i32 i64 u32 u64 i8 i16
 *     product     x0 · … · xi                                 f32 f64 i64 u64
 *     max, min    the largest, the smallest                   f32 f64 i32 i64
 *     argmax, argmin   the same, and its index                f32 f64 i32 i64
 *     xor         x0 ^ … ^ xi                                 u32 u64
 *     logsumexp   log(exp x0 + … + exp xi)                    f32 f64
 *     affine      h = a h + b, for each pair of a and b       f32 f64
 *     decay       h = keep h + take x, for each x             f32 f64
 *
 * version.h says what all calls have in common; scan.cuh has scans with an operator of your own.
 *
 * The result has the type of the input, but sums of i8 and i16 are of i32. Integers wrap. A result
 * of floats is bitwise identical in every run on every GPU (of logsumexp, on GPUs of one
 * generation): n, the types, the options and the alignment to 16 bytes fix the order in which
 * elements are combined. max and min:
 * from a NaN on, the result is NaN; of -0 and +0 the later one counts. logsumexp is NaN from a NaN
 * on, and -INFINITY for no elements and for elements that are all -INFINITY.
 */
#ifndef UPSWEEP_SCAN_H
#define UPSWEEP_SCAN_H

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What begins a new sequence, which is scanned by itself. The first element of a sequence is the
 * one with the lowest index, also in a reverse scan. Element 0 begins a sequence in any case. */
enum upsweep_heads {
    UPSWEEP_HEADS_NONE,
    UPSWEEP_HEADS_BYTES,   /* uint8_t[n]: not 0 at the first element of a sequence */
    UPSWEEP_HEADS_BITS,    /* uint32_t[(n + 31) / 32]: bit i % 32 of word i / 32 */
    UPSWEEP_HEADS_KEYS,    /* int32_t[n]: neighbours with equal keys are of one sequence */
    UPSWEEP_HEADS_OFFSETS, /* int64_t[count]: the indices of first elements, in any order. Those
                              below 0, at n and beyond are passed over; equal ones are empty
                              sequences */
};

struct upsweep_scan_options {
    bool inclusive; /* the result of an element includes the element; otherwise it is left out */
    bool reverse;   /* from the last element to the first */
    bool cleared;   /* the workspace was cleared once: see version.h */

    /* At most one of row, columns and kind may be set. BYTES and KEYS are for sum and max only.
     * Sums of i8 and i16 have none of these, no reverse and no initial. What a function does not
     * have returns cudaErrorNotSupported. */
    size_t row;              /* > 0: each `row` elements are a sequence; n is a multiple */
    size_t columns;          /* > 0: n is rows times `columns` elements, one row after the other;
                                each column is a sequence */
    enum upsweep_heads kind; /* sequences of any lengths, */
    const void *heads;       /* by this array in device memory, */
    size_t count;            /* the number of its elements: UPSWEEP_HEADS_OFFSETS only */

    const void *initial; /* one result in host memory, which comes before each sequence; or NULL */
};

/*
 * out, in  n elements each. `out` may be `in`, or an input of affine, if the types have the same
 *          size.
 * Refused (cudaErrorInvalidValue): a workspace that is too small or misaligned; n that is no
 * multiple of row or columns; more than one of row, columns and kind; heads or a second input that
 * are NULL; n of 2^31 tiles or more (2^40 elements at least); `count` beyond 2^39 - 256.
 */
#define UPSWEEP_SCAN_REST_ size_t n, const struct upsweep_scan_options *options, cudaStream_t stream
#define UPSWEEP_SCAN_(name, In, Out)                                                               \
    cudaError_t upsweep_scan_##name(void *workspace, size_t *bytes, Out *out, const In *in,        \
                                    UPSWEEP_SCAN_REST_)

UPSWEEP_SCAN_(sum_f32, float, float);
UPSWEEP_SCAN_(sum_f64, double, double);
UPSWEEP_SCAN_(sum_i32, int32_t, int32_t);
UPSWEEP_SCAN_(sum_i64, int64_t, int64_t);
UPSWEEP_SCAN_(sum_u32, uint32_t, uint32_t);
UPSWEEP_SCAN_(sum_u64, uint64_t, uint64_t);
UPSWEEP_SCAN_(sum_i8, int8_t, int32_t);
UPSWEEP_SCAN_(sum_i16, int16_t, int32_t);
UPSWEEP_SCAN_(product_f32, float, float);
UPSWEEP_SCAN_(product_f64, double, double);
UPSWEEP_SCAN_(product_i64, int64_t, int64_t);
UPSWEEP_SCAN_(product_u64, uint64_t, uint64_t);
UPSWEEP_SCAN_(max_f32, float, float);
UPSWEEP_SCAN_(max_f64, double, double);
UPSWEEP_SCAN_(max_i32, int32_t, int32_t);
UPSWEEP_SCAN_(max_i64, int64_t, int64_t);
UPSWEEP_SCAN_(min_f32, float, float);
UPSWEEP_SCAN_(min_f64, double, double);
UPSWEEP_SCAN_(min_i32, int32_t, int32_t);
UPSWEEP_SCAN_(min_i64, int64_t, int64_t);
UPSWEEP_SCAN_(xor_u32, uint32_t, uint32_t);
UPSWEEP_SCAN_(xor_u64, uint64_t, uint64_t);
UPSWEEP_SCAN_(logsumexp_f32, float, float);
UPSWEEP_SCAN_(logsumexp_f64, double, double);

/* out as for max and min, and the index of the element: in its row or column, otherwise in `in`. Of
 * equal ones it is the last, as torch.cummax has it, and so it is of NaNs: from one on, the result
 * is the last NaN so far. -1 where an exclusive scan has no element yet. Without `initial`. indices
 * overlaps no other array. n is at most 2^32 - 1 for f32 and i32. */
#define UPSWEEP_SCAN_INDEXED_(name, T)                                                             \
    cudaError_t upsweep_scan_##name(void *workspace, size_t *bytes, T *out, int64_t *indices,      \
                                    const T *in, UPSWEEP_SCAN_REST_)

UPSWEEP_SCAN_INDEXED_(argmax_f32, float);
UPSWEEP_SCAN_INDEXED_(argmax_f64, double);
UPSWEEP_SCAN_INDEXED_(argmax_i32, int32_t);
UPSWEEP_SCAN_INDEXED_(argmax_i64, int64_t);
UPSWEEP_SCAN_INDEXED_(argmin_f32, float);
UPSWEEP_SCAN_INDEXED_(argmin_f64, double);
UPSWEEP_SCAN_INDEXED_(argmin_i32, int32_t);
UPSWEEP_SCAN_INDEXED_(argmin_i64, int64_t);

/* h = a h + b, from h = 0 or *options->initial on. a, b and the products of neighbouring a must be
 * finite: maps are combined before h is known. */
cudaError_t upsweep_scan_affine_f32(void *workspace, size_t *bytes, float *out, const float *a,
                                    const float *b, UPSWEEP_SCAN_REST_);
cudaError_t upsweep_scan_affine_f64(void *workspace, size_t *bytes, double *out, const double *a,
                                    const double *b, UPSWEEP_SCAN_REST_);

/* h = keep h + take x, from h = 0 or *options->initial on. A moving average has take = 1 - keep; a
 * discounted return is reverse, with take = 1. keep, its powers up to the n-th, and take x must be
 * finite. */
cudaError_t upsweep_scan_decay_f32(void *workspace, size_t *bytes, float *out, const float *in,
                                   float keep, float take, UPSWEEP_SCAN_REST_);
cudaError_t upsweep_scan_decay_f64(void *workspace, size_t *bytes, double *out, const double *in,
                                   double keep, double take, UPSWEEP_SCAN_REST_);

#undef UPSWEEP_SCAN_INDEXED_
#undef UPSWEEP_SCAN_
#undef UPSWEEP_SCAN_REST_

#ifdef __cplusplus
}
#endif

#endif
