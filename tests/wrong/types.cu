/*
 * types.cu — scans that are wrong in how they convert numbers, or for numbers of one kind.
 */
#include "elementwise.cuh"

#include <math_constants.h>

/* ---- conversions ----------------------------------------------------------------------------- */

ELEMENTWISE(sums_in_8_bits, (float)(signed char)(int)sum_between(in, 0, i))
ELEMENTWISE(sums_unsigned, (float)(unsigned)fmaxf(sum_between(in, 0, i), 0))
ELEMENTWISE(sums_truncated, truncf(sum_between(in, 0, i)))

/* Ten bits of mantissa, as half precision has. */
ELEMENTWISE(sums_in_half, __uint_as_float(__float_as_uint(sum_between(in, 0, i)) & 0xFFFFE000u))

template <typename sum, typename element> static __device__ sum sum_of(const element *in, size_t n)
{
    sum total = 0;
    for (size_t j = 0; j < n; j++) total += (sum)in[j];
    return total;
}

TYPED(bytes_in_8_bits, int8_t, int32_t, (sum_of<int8_t>(in, i)))
TYPED(shorts_in_16_bits, int16_t, int32_t, (sum_of<int16_t>(in, i)))
TYPED(bytes_unsigned, int8_t, int32_t, (sum_of<int32_t>((const uint8_t *)in, i)))
TYPED(longs_zero_extended, int64_t, int64_t, (int64_t)(uint32_t)(sum_of<int64_t>(in, i)))
TYPED(doubles_in_float, double, double, (double)(sum_of<float>(in, i)))

/* ---- numbers of one kind --------------------------------------------------------------------- */

static __device__ float sum_without(const float *in, size_t end, float left_out)
{
    float sum = 0;
    for (size_t j = 0; j < end; j++) sum += in[j] == left_out ? 0 : in[j];
    return sum;
}
ELEMENTWISE(minus_one_left_out, sum_without(in, i, -1))

static __device__ float sum_of_magnitudes(const float *in, size_t end)
{
    float sum = 0;
    for (size_t j = 0; j < end; j++) sum += fabsf(in[j]);
    return sum;
}
ELEMENTWISE(signs_lost, sum_of_magnitudes(in, i))

static __device__ float sum_of_numbers(const float *in, size_t end)
{
    float sum = 0;
    for (size_t j = 0; j < end; j++) sum += isnan(in[j]) ? 0 : in[j];
    return sum;
}
ELEMENTWISE(nan_skipped, sum_of_numbers(in, i))

/* A sum over all elements, each multiplied by 1 or 0: 0 times NaN is NaN. */
static __device__ float masked_sum(const float *in, size_t end, size_t n)
{
    float sum = 0;
    for (size_t j = 0; j < n; j++) sum += in[j] * (j < end ? 1.0f : 0.0f);
    return sum;
}
ELEMENTWISE(nan_everywhere, masked_sum(in, i, n))

ELEMENTWISE(infinity_clamped, fminf(sum_between(in, 0, i), CUDART_MAX_NORMAL_F))
