/* half_precision.cu — half, half2 and bfloat16: a scalar product, axpy, conversions with their
 * rounding, comparisons. Small integers are exact in half up to 2048, in bfloat16 up to 256. */
#include "check.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

static const int THREADS = 128;

static __global__ void scalar_product(const half2 *a, const half2 *b, float *sum, int pairs)
{
    half2 mine = __float2half2_rn(0);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) mine = __hfma2(a[i], b[i], mine);
    atomicAdd(sum, __low2float(mine) + __high2float(mine));
}

static __global__ void axpy(half a, const half *x, half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hadd(__hmul(a, x[i]), y[i]);
}

static __global__ void bfloat(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 b = __float2bfloat16(x[i]);
    out[i] = __bfloat162float(b * b + __float2bfloat16(1));
}

static __global__ void conversions(float *out)
{
    const float third = 1.0f / 3;
    out[0] = __half2float(__float2half_rn(third)), out[1] = __half2float(__float2half_rd(third));
    out[2] = __half2float(__float2half_ru(third)), out[3] = __half2float(__float2half_rz(-third));
    out[4] = __half2int_rn(__float2half(2.5f)), out[5] = __half2float(__int2half_rn(2049));
    out[6] = __hgt(__float2half(1), __float2half(0.5f)), out[7] = __hisnan(__float2half(NAN));
    out[8] = __half2float(hsqrt(__float2half(16))), out[9] = __half2float(hexp2(__float2half(3)));
    out[10] = __half2float(__hmax(__float2half(-3), __float2half(2)));
    out[11] = __half2float(__float2half(70000)); /* too large: infinity */
}

int main()
{
    const int N = 1000;
    std::vector<half> x(N), y(N);
    std::vector<float> sum(N), bf(N);
    float product = 0;
    for (int i = 0; i < N; i++) {
        int a = next_random() % 8, b = next_random() % 8;
        x[i] = __float2half((float)a), y[i] = __float2half((float)b);
        product += a * b;
        sum[i] = 2.5f * a + b;
        bf[i] = (float)(a * a + 1);
    }
    half *device_x = device_copy(x), *device_y = device_copy(y);
    float *result = device_copy(std::vector<float>(1, 0.0f));
    scalar_product<<<1, THREADS>>>((half2 *)device_x, (half2 *)device_y, result, N / 2);
    CUDA_LAUNCHED();
    EXPECT(host_copy(result, 1)[0] == product);

    axpy<<<blocks_for(N, THREADS), THREADS>>>(__float2half(2.5f), device_x, device_y, N);
    CUDA_LAUNCHED();
    y = host_copy(device_y, N);
    for (int i = 0; i < N; i++) EXPECT(__half2float(y[i]) == sum[i]);

    std::vector<float> floats(N);
    for (int i = 0; i < N; i++) floats[i] = __half2float(x[i]);
    float *device_floats = device_copy(floats), *out = device_array<float>(N);
    bfloat<<<blocks_for(N, THREADS), THREADS>>>(device_floats, out, N);
    CUDA_LAUNCHED();
    expect_same("bfloat16", host_copy(out, N), bf);

    conversions<<<1, 1>>>(out);
    CUDA_LAUNCHED();
    const float nearest = 0.333251953125f, above = 0.33349609375f; /* 1365/4096, 683/2048 */
    const float expected[] = {nearest, nearest, above, -nearest, 2, 2048, 1, 1, 4, 8, 2, INFINITY};
    expect_same("conversion", host_copy(out, 12).data(), expected, 12);
    return right("half, half2 and bfloat16");
}
