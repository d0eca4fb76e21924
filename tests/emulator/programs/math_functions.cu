/* math_functions.cu — the mathematical functions, ordinary and fast, against the host's double
 * precision, with the errors that the CUDA C++ Programming Guide allows; rounding and special
 * values.
 */
#include "check.cuh"

static const int N = 500;
enum { SIN, COS, TAN, EXP, LOG, POW, SQRT, CBRT, ATAN2, TANH, ERF, HYPOT, KINDS };
enum { FAST_SIN, FAST_COS, FAST_EXP, FAST_LOG2, FAST_POW, FAST_DIVIDE, FAST_RSQRT, FAST_KINDS };

template <typename T> static __host__ __device__ void ordinary(T x, T y, T *r)
{
    r[SIN] = sin(x), r[COS] = cos(x), r[TAN] = tan(x / 8), r[EXP] = exp(x), r[LOG] = log(y);
    r[POW] = pow(y, x / 4), r[SQRT] = sqrt(y), r[CBRT] = cbrt(x), r[ATAN2] = atan2(x, y);
    r[TANH] = tanh(x), r[ERF] = erf(x), r[HYPOT] = hypot(x, y);
}

template <typename T> static __global__ void run_ordinary(const double *x, const double *y, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) ordinary((T)x[i], (T)y[i], out + i * KINDS);
}

static __global__ void run_fast(const double *x, const double *y, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float a = (float)x[i], b = (float)y[i], *r = out + i * FAST_KINDS;
    a = fmodf(a, 3.14f); /* where __sinf is good: |x| <= π */
    r[FAST_SIN] = __sinf(a), r[FAST_COS] = __cosf(a), r[FAST_EXP] = __expf(a);
    r[FAST_LOG2] = __log2f(b), r[FAST_POW] = __powf(b, a), r[FAST_DIVIDE] = __fdividef(a, b);
    r[FAST_RSQRT] = rsqrtf(b);
}

static __global__ void roundings(float *out)
{
    volatile float changeable = 0; /* so that nvcc does not divide by it itself */
    float zero = changeable, one = zero + 1, three = zero + 3;
    out[0] = __fdiv_rn(one, three), out[1] = __fdiv_rd(one, three), out[2] = __fdiv_ru(one, three);
    out[3] = __fadd_rz(one, 5.9604645e-8f), out[4] = __fadd_ru(one, 1e-20f);
    out[5] = rintf(2.5f), out[6] = roundf(2.5f), out[7] = truncf(-2.7f), out[8] = floorf(-2.2f);
    out[9] = (float)__float2int_ru(2.1f), out[10] = (float)__float2int_rz(3e10f);
    out[11] = fminf(NAN, 3), out[12] = isinf(one / zero), out[13] = __saturatef(1.5f);
    out[14] = fmaf(three, 0.33333334f, -1), out[15] = copysignf(3, -0.0f);
}

static double difference(double got, double want, double allowed)
{
    double scale = fabs(want) > 1 ? fabs(want) : 1;
    return fabs(got - want) / (allowed * scale);
}

int main()
{
    std::vector<double> x(N), y(N);
    for (int i = 0; i < N; i++) {
        x[i] = (float)((int)(next_random() % 20001) - 10000) / 1024;
        y[i] = (float)(next_random() % 10000 + 1) / 512;
    }
    double *device_x = device_copy(x), *device_y = device_copy(y);
    float *floats = device_array<float>(N * KINDS);
    double *doubles = device_array<double>(N * KINDS), want[KINDS];
    run_ordinary<float><<<blocks_for(N, 64), 64>>>(device_x, device_y, floats);
    run_ordinary<double><<<blocks_for(N, 64), 64>>>(device_x, device_y, doubles);
    CUDA_LAUNCHED();
    std::vector<float> f = host_copy(floats, N * KINDS);
    std::vector<double> d = host_copy(doubles, N * KINDS);
    for (int i = 0; i < N; i++) {
        ordinary(x[i], y[i], want);
        for (int k = 0; k < KINDS; k++) {
            if (difference(f[i * KINDS + k], want[k], 2e-6) <= 1 &&
                difference(d[i * KINDS + k], want[k], 2e-15) <= 1)
                continue;
            printf("function %d of %g and %g is %.9g and %.17g, not %.17g\n", k, x[i], y[i],
                   f[i * KINDS + k], d[i * KINDS + k], want[k]);
            return EXIT_WRONG;
        }
    }

    run_fast<<<blocks_for(N, 64), 64>>>(device_x, device_y, floats);
    CUDA_LAUNCHED();
    f = host_copy(floats, N * FAST_KINDS);
    for (int i = 0; i < N; i++) {
        double a = fmodf((float)x[i], 3.14f), b = y[i];
        const double fast[] = {sin(a), cos(a), exp(a), log2(b), pow(b, a), a / b, 1 / sqrt(b)};
        for (int k = 0; k < FAST_KINDS; k++)
            EXPECT(difference(f[i * FAST_KINDS + k], fast[k], 1e-5) <= 1);
    }

    roundings<<<1, 1>>>(floats);
    CUDA_LAUNCHED();
    const float third = 0.333333343f, below = 0.333333313f, after_one = 1.00000012f;
    const float rounded[] = {third,         below, third, 1, after_one,      2, 3, -2, -3, 3,
                             2147483648.0f, 3,     1,     1, 2.98023224e-8f, -3};
    expect_same("rounding", host_copy(floats, 16).data(), rounded, 16);
    return right("%d functions of floats and doubles, %d fast ones", (int)KINDS, (int)FAST_KINDS);
}
