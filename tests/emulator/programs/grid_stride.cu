/* grid_stride.cu — y = a·x + y with a grid of fixed size, whose threads stride over any n; as a
 * template, for every arithmetic type. */
#include "check.cuh"

template <typename T> static __global__ void axpy(T a, const T *x, T *y, size_t n)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] += a * x[i];
}

template <typename T> static void try_type(const char *name, T a, size_t n)
{
    std::vector<T> x = random_values<T>(n, 100), y = random_values<T>(n, 100), expected = y;
    T *device_x = device_copy(x), *device_y = device_copy(y);
    axpy<T><<<7, 96>>>(a, device_x, device_y, n);
    CUDA_LAUNCHED();
    for (size_t i = 0; i < n; i++) expected[i] += a * x[i];
    expect_same(name, host_copy(device_y, n), expected, 0);
    CUDA(cudaFree(device_x));
    CUDA(cudaFree(device_y));
}

int main()
{
    const size_t N = 5001;
    try_type<signed char>("char", 3, N);
    try_type<unsigned char>("unsigned char", 3, N);
    try_type<short>("short", -300, N);
    try_type<unsigned short>("unsigned short", 300, N);
    try_type<int>("int", -70000, N);
    try_type<unsigned>("unsigned", 70000, N);
    try_type<long long>("long long", -5000000000, N);
    try_type<unsigned long long>("unsigned long long", 5000000000, N);
    try_type<float>("float", 0.5f, N);
    try_type<double>("double", 1.0 / 1024, N);
    try_type<float>("one element", 2, 1);
    return right("a*x + y in ten types");
}
