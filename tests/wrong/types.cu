/*
 * types.cu — scans that are wrong in how they convert numbers, or for numbers of one kind.
 */
#include "elementwise.cuh"

#include <math_constants.h>

/* ---- conversions ----------------------------------------------------------------------------- */

ELEMENTWISE(sums_in_8_bits, (float)(signed char)(int)sum_between(in, 0, i))

template <typename sum, typename element> static __device__ sum sum_of(const element *in, size_t n)
{
    sum total = 0;
    for (size_t j = 0; j < n; j++) total += (sum)in[j];
    return total;
}

TYPED(bytes_in_8_bits, int8_t, int32_t, (sum_of<int8_t>(in, i)))
TYPED(longs_zero_extended, int64_t, int64_t, (int64_t)(uint32_t)(sum_of<int64_t>(in, i)))
TYPED(doubles_in_float, double, double, (double)(sum_of<float>(in, i)))

/* ---- numbers of one kind --------------------------------------------------------------------- */

static __device__ float sum_of_numbers(const float *in, size_t end)
{
    float sum = 0;
    for (size_t j = 0; j < end; j++) sum += isnan(in[j]) ? 0 : in[j];
    return sum;
}
ELEMENTWISE(nan_skipped, sum_of_numbers(in, i))

ELEMENTWISE(infinity_clamped, fminf(sum_between(in, 0, i), CUDART_MAX_NORMAL_F))
