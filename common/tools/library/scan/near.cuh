/*
 * near.cuh — logsumexp of floats in a segment whose elements lie near each other: an exponential
 * and a logarithm for each element, where op.combine takes an exponential for each combination.
 *
 * If all elements of a segment are less than NEAR apart, exp(x - largest) is neither too small nor
 * too large to be added as it is. So the exponentials are scanned by additions, all of them in
 * units of exp(largest). What lies before the segment is converted into a unit once. Other segments
 * are scanned as those of any operator: with elements that are far apart, infinite, or NaN.
 *
 * The elements of the segment alone decide, so the bits are the same in every run.
 */
#ifndef STEP16_NEAR_CUH
#define STEP16_NEAR_CUH

#include "arrays.cuh"

/* An exponential is wrong by the rounding of its argument, and so is the logarithm of a small sum.
 * judge.c adds up both: further apart, the error could be larger than the bound. */
constexpr float NEAR = 20;

typedef logsumexp_operator<float> exponentials;

/* How a sum of a segment is combined with what lies before it, and left:
 * unit + log(sum scale + before). */
struct joining {
    float unit, scale, before;
    float none; // the result if the sum is that of no elements, 0
};

/* What segment_scan leaves of a segment of this operator. If the elements are near each other,
 * `sum` in each element and in each row has the unit exp(unit); only in the last row and the last
 * element `largest` is the unit as well, so that the segment's sum can be found as usual. */
template <int R> struct rows_before<log_sum<float>, R> {
    log_sum<float> sum[R];
    unsigned open;
    bool near;
    float unit;
    struct joining to_open, to_closed; // in results_of: before and after the segment's first head
};

/* The larger one, or NaN. */
static __device__ float larger_or_nan(float a, float b)
{
#if __CUDA_ARCH__ >= 800
    float c;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
#else
    return a > b || a != a ? a : b;
#endif
}

/* The largest element of the lanes, or NaN. */
static __device__ float warp_largest(float x)
{
    // The bits of floats, as integers, are in the order of the floats; those of negative ones in
    // the opposite order.
    int bits = __float_as_int(x), most = warp_max(bits ^ (bits >> 31 & INT32_MAX));
    return __int_as_float(most ^ (most >> 31 & INT32_MAX));
}

/* Finds the largest element of a segment. Returns whether all are near it. */
template <int R, int V>
static __device__ bool are_near(const log_sum<float> (&x)[R][V], float *largest)
{
    float most = x[0][0].largest, least = most;
#pragma unroll
    for (int i = 1; i < R * V; i++) {
        most = larger_or_nan(most, x[i / V][i % V].largest);
        least = fminf(least, x[i / V][i % V].largest);
    }
    *largest = warp_largest(most);
    // False for infinities, and by the second comparison for NaN.
    return __all_sync(ALL_LANES, *largest - least < NEAR && most <= *largest);
}

template <int R, int V>
static __device__ void exponentials_of(const log_sum<float> (&x)[R][V], float unit,
                                       float (&e)[R][V])
{
#pragma unroll
    for (int i = 0; i < R * V; i++) e[i / V][i % V] = exp_of(x[i / V][i % V].largest - unit);
}

template <int R, int V>
static __device__ log_sum<float> segment_sum(const exponentials &op, log_sum<float> (&x)[R][V])
{
    float unit, e[R][V];
    if (!are_near(x, &unit)) return segment_sum<exponentials, R, V>(op, x);
    exponentials_of(x, unit, e);
    return {unit, segment_sum(sum_operator<float>(), e)};
}

template <bool HEADED, int R, int V>
static __device__ void segment_scan(const exponentials &op, log_sum<float> (&x)[R][V],
                                    unsigned heads, rows_before<log_sum<float>, R> &before)
{
    float e[R][V];
    before.near = are_near(x, &before.unit);
    if (!before.near) return segment_scan<HEADED, exponentials, R, V>(op, x, heads, before);
    rows_before<float, R> sums;
    exponentials_of(x, before.unit, e);
    segment_scan<HEADED>(sum_operator<float>(), e, heads, sums);
    before.open = sums.open;
#pragma unroll
    for (int r = 0; r < R; r++) {
        before.sum[r].sum = sums.sum[r];
#pragma unroll
        for (int k = 0; k < V; k++) x[r][k].sum = e[r][k];
    }
    before.sum[R - 1].largest = x[R - 1][V - 1].largest = before.unit;
}

static __device__ struct joining joining_with(const exponentials &op, log_sum<float> before,
                                              float unit)
{
    bool keep = before.largest <= unit; // the segment's unit
    float scale = exp_of(keep ? before.largest - unit : unit - before.largest);
    struct joining to = {keep ? unit : before.largest, keep ? 1 : scale,
                         keep ? before.sum * scale : before.sum, op.leave(before, before)};
    if (isnan(before.sum)) to.unit = before.sum;
    return to;
}

/* unit + log(x), of a normal x. The instruction for log2 is exact enough between 1/2 and 2. */
static __device__ float add_log(float unit, float x)
{
    const float LN_2 = 0.693147181f;
    const int SQRT_HALF = 0x3f3504f3, EXPONENT = 0x7f800000;              // bits of a float
    int power = (__float_as_int(x) - SQRT_HALF) & (EXPONENT | INT32_MIN); // of 2, times 2^23
    float y, mantissa = __int_as_float(__float_as_int(x) - power);
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(mantissa));
    return fmaf(LN_2, fmaf((float)power, 0x1p-23f, y), unit);
}

template <bool HEADED, int R, int V>
static __device__ void results_of(bool reverse, const job<exponentials> &j, float (&z)[V],
                                  log_sum<float> (&own)[R][V], log_sum<float> (&x)[R][V],
                                  unsigned heads, rows_before<log_sum<float>, R> &before,
                                  log_sum<float> base, int r)
{
    if (!before.near)
        return results_of<HEADED, exponentials, R, V>(reverse, j, z, own, x, heads, before, base,
                                                      r);
    if (r == 0) {
        if (HEADED) base = j.op.combine(j.initial, base);
        before.to_open = joining_with(j.op, base, before.unit);
        if (HEADED) before.to_closed = joining_with(j.op, j.initial, before.unit);
    }
    float y[V], sums[1][V];
#pragma unroll
    for (int k = 0; k < V; k++) sums[0][k] = x[r][k].sum;
    unsigned vector = heads >> (r * V);
#pragma unroll
    for (int k = 0; k < V; k++) {
        float sum = element_of<HEADED>(sum_operator<float>(), sums, vector, before.sum[r].sum,
                                       j.inclusive, 0, k);
        bool closed = HEADED && (!(before.open >> r & 1) || vector & (bits_below(k) | 1u << k));
        struct joining to = closed ? before.to_closed : before.to_open;
        y[k] = add_log(to.unit, fmaf(sum, to.scale, to.before));
        if ((HEADED || (r == 0 && k == 0)) && sum == 0) y[k] = to.none;
    }
#pragma unroll
    for (int k = 0; k < V; k++) z[k] = mirrored(reverse, y, k);
}

#endif
