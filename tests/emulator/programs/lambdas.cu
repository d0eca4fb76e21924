/* lambdas.cu — modern C++ in kernels: device lambdas that capture, generic loops over a grid,
 * templates with parameter packs, constexpr tables, structured bindings, a class with operators. */
#include "check.cuh"

template <typename Function> static __global__ void for_each(int n, Function function)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        function(i);
}

template <typename... Values> static __host__ __device__ constexpr int sum_of(Values... values)
{
    return (0 + ... + values);
}

template <int N> struct powers {
    int value[N];
    constexpr __host__ __device__ powers() : value()
    {
        for (int i = 0, power = 1; i < N; i++, power *= 3) value[i] = power;
    }
};

struct complex_number {
    float re, im;
    __host__ __device__ complex_number operator*(complex_number b) const
    {
        return {re * b.re - im * b.im, re * b.im + im * b.re};
    }
    __host__ __device__ complex_number operator+(complex_number b) const
    {
        return {re + b.re, im + b.im};
    }
};

/* Steps until z² + c leaves the circle of radius 2: the Mandelbrot set. */
static __host__ __device__ int steps(complex_number c)
{
    complex_number z = {0, 0};
    int n = 0;
    while (n < 50 && z.re * z.re + z.im * z.im < 4) z = z * z + c, n++;
    return n;
}

int main()
{
    const int N = 3000;
    int *out = device_array<int>(N), factor = 17;
    std::vector<int> in = random_values<int>(N, 1000), expected(N);
    int *device_in = device_copy(in);
    for_each<<<4, 128>>>(
        N, [=] __device__(int i) { out[i] = factor * device_in[i] + sum_of(1, 2, i); });
    CUDA_LAUNCHED();
    for (int i = 0; i < N; i++) expected[i] = 17 * in[i] + 3 + i;
    expect_same("captured", host_copy(out, N), expected);

    for_each<<<4, 128>>>(N, [out] __device__(int i) {
        constexpr powers<10> table;
        struct {
            int low, high;
        } parts = {i % 10, i / 10};
        auto [low, high] = parts;
        auto twice = [](auto x) { return x + x; };
        out[i] = table.value[low] + twice(high);
    });
    CUDA_LAUNCHED();
    for (int i = 0; i < N; i++) expected[i] = powers<10>().value[i % 10] + i / 10 * 2;
    expect_same("table", host_copy(out, N), expected);

    /* Points on a grid of eighths: the first steps are exact. Far from the edge the count
     * is. */
    auto point = [] __host__ __device__(int i) {
        return complex_number{(i % 60) / 8.0f - 4, (i / 60) / 8.0f - 3};
    };
    for_each<<<4, 128>>>(N, [=] __device__(int i) { out[i] = steps(point(i)); });
    CUDA_LAUNCHED();
    std::vector<int> got = host_copy(out, N);
    int different = 0;
    for (int i = 0; i < N; i++) different += got[i] != steps(point(i));
    EXPECT(different <= N / 500); /* the device may fuse a multiplication with an addition */
    return right("lambdas, packs, constexpr tables and operators");
}
