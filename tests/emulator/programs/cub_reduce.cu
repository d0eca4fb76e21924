/* cub_reduce.cu — CUB's device-wide reductions: sum, minimum and maximum with their places, any
 * operator, sums of segments, and sums of runs of equal keys. */
#include "cub.cuh"
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <numeric>

struct xor_of {
    __host__ __device__ int operator()(int a, int b) const { return a ^ b; }
};

static void whole_array(int n)
{
    std::vector<int> in = random_values<int>(n, 1000000);
    int *values = device_copy(in), *out = device_array<int>(1);
    WITH_TEMPORARY(cub::DeviceReduce::Sum(temporary, bytes, values, out, n));
    EXPECT(host_copy(out, 1)[0] == (int)std::accumulate(in.begin(), in.end(), 0u));

    WITH_TEMPORARY(cub::DeviceReduce::Reduce(temporary, bytes, values, out, n, xor_of(), 7));
    EXPECT(host_copy(out, 1)[0] == std::accumulate(in.begin(), in.end(), 7, xor_of()));

    size_t largest = 0;
    for (int i = 0; i < n; i++)
        if (in[i] > in[largest]) largest = i;
    WITH_TEMPORARY(cub::DeviceReduce::Max(temporary, bytes, values, out, n));
    EXPECT(host_copy(out, 1)[0] == in[largest]);

    int64_t *index = device_array<int64_t>(1);
    WITH_TEMPORARY(cub::DeviceReduce::ArgMax(temporary, bytes, values, out, index, (int64_t)n));
    EXPECT(host_copy(out, 1)[0] == in[largest]);
    EXPECT(host_copy(index, 1)[0] == (int64_t)largest);
}

static void segments(void)
{
    std::vector<int> begin = {0, 0, 5, 100, 101, 3000, 9000}; /* the first is empty */
    const int SEGMENTS = (int)begin.size() - 1, N = begin.back();
    std::vector<float> in = random_values<float>(N, 100), expected(SEGMENTS, 0.0f);
    for (int s = 0; s < SEGMENTS; s++)
        for (int i = begin[s]; i < begin[s + 1]; i++) expected[s] += in[i];
    float *values = device_copy(in), *out = device_array<float>(SEGMENTS);
    int *offsets = device_copy(begin);
    WITH_TEMPORARY(cub::DeviceSegmentedReduce::Sum(temporary, bytes, values, out, SEGMENTS, offsets,
                                                   offsets + 1));
    expect_same("segment", host_copy(out, SEGMENTS), expected);
}

static void runs_of_keys(void)
{
    const int N = 10000;
    std::vector<int> key(N), in = random_values<int>(N, 100), keys, sums;
    for (int i = 0; i < N; i++) {
        key[i] = i == 0 ? 5 : key[i - 1] + (next_random() % 4 == 0);
        if (i == 0 || key[i] != key[i - 1]) {
            keys.push_back(key[i]);
            sums.push_back(0);
        }
        sums.back() += in[i];
    }
    int *device_key = device_copy(key), *values = device_copy(in), *count = device_array<int>(1);
    int *out_key = device_array<int>(N), *out = device_array<int>(N);
    WITH_TEMPORARY(cub::DeviceReduce::ReduceByKey(temporary, bytes, device_key, out_key, values,
                                                  out, count, cuda::std::plus<>(), N));
    EXPECT(host_copy(count, 1)[0] == (int)keys.size());
    expect_same("key", host_copy(out_key, keys.size()), keys);
    expect_same("sum", host_copy(out, keys.size()), sums);
}

int main()
{
    whole_array(1);
    whole_array(1001);
    whole_array(200000);
    segments();
    runs_of_keys();
    return right("CUB's device-wide reductions");
}
