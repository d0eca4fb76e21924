/* cub_scan.cu — CUB's device-wide scans: sums, any operator, a starting value, in place, by key. */
#include "cub.cuh"
#include <cub/device/device_scan.cuh>

struct larger {
    template <typename T> __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

static void try_length(int n)
{
    std::vector<int> in = random_values<int>(n, 100), expected(n);
    int *device_in = device_copy(in), *device_out = device_array<int>(n);
    int sum = 0;

    WITH_TEMPORARY(cub::DeviceScan::ExclusiveSum(temporary, bytes, device_in, device_out, n));
    for (int i = 0; i < n; sum += in[i++]) expected[i] = sum;
    expect_same("exclusive sum", host_copy(device_out, n), expected);

    WITH_TEMPORARY(
        cub::DeviceScan::ExclusiveScan(temporary, bytes, device_in, device_out, larger(), 50, n));
    for (int i = 0, most = 50; i < n; most = larger()(most, in[i++])) expected[i] = most;
    expect_same("exclusive maximum", host_copy(device_out, n), expected);

    std::vector<int> key(n);
    for (int i = 0; i < n; i++) key[i] = i / 7 + i / 1000 % 2; /* runs of 7, some longer */
    int *device_key = device_copy(key);
    WITH_TEMPORARY(
        cub::DeviceScan::InclusiveSumByKey(temporary, bytes, device_key, device_in, device_out, n));
    for (int i = 0; i < n; i++)
        expected[i] = in[i] + (i > 0 && key[i] == key[i - 1] ? expected[i - 1] : 0);
    expect_same("sum by key", host_copy(device_out, n), expected);

    WITH_TEMPORARY(cub::DeviceScan::InclusiveSum(temporary, bytes, device_in, device_in, n));
    sum = 0;
    for (int i = 0; i < n; i++) expected[i] = sum += in[i]; /* the sizing call scans nothing */
    expect_same("inclusive sum in place", host_copy(device_in, n), expected);

    CUDA(cudaFree(device_in));
    CUDA(cudaFree(device_out));
    CUDA(cudaFree(device_key));
}

int main()
{
    const int lengths[] = {1, 31, 1000, 70001};
    for (int n : lengths) try_length(n);

    const int N = 20000;
    std::vector<double> in = random_values<double>(N, 1000), expected(N);
    double *device_in = device_copy(in), *device_out = device_array<double>(N), sum = 0;
    WITH_TEMPORARY(cub::DeviceScan::InclusiveSum(temporary, bytes, device_in, device_out, N));
    for (int i = 0; i < N; i++) expected[i] = sum += in[i];
    expect_same("double", host_copy(device_out, N), expected);
    return right("CUB's device-wide scans");
}
