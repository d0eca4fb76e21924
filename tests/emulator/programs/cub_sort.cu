/* cub_sort.cu — CUB's radix sort (unsigned, signed, float, 64-bit, downwards, pairs, some bits) and
 * its merge sort, which takes any order. */
#include "cub.cuh"
#include <algorithm>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <functional>

template <typename T> static void sort_keys(const char *what, std::vector<T> in)
{
    const int n = (int)in.size();
    T *keys = device_copy(in), *out = device_array<T>(n);
    WITH_TEMPORARY(cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, out, n));
    std::sort(in.begin(), in.end());
    expect_same(what, host_copy(out, n), in);
    CUDA(cudaFree(keys));
    CUDA(cudaFree(out));
}

static void sort_pairs(int n)
{
    std::vector<unsigned> key = random_values<unsigned>(n, 1 << 16);
    std::vector<int> index(n);
    for (int i = 0; i < n; i++) index[i] = i;
    unsigned *keys = device_copy(key), *out_keys = device_array<unsigned>(n);
    int *indices = device_copy(index), *out = device_array<int>(n);

    /* Equal keys keep their order. */
    WITH_TEMPORARY(cub::DeviceRadixSort::SortPairsDescending(temporary, bytes, keys, out_keys,
                                                             indices, out, n, 4, 12));
    std::stable_sort(index.begin(), index.end(), [&](int a, int b) {
        return (key[a] >> 4 & 255) > (key[b] >> 4 & 255); /* bits 4 to 11 */
    });
    expect_same("pairs", host_copy(out, n), index);
}

struct by_last_digit {
    __host__ __device__ bool operator()(int a, int b) const
    {
        return a % 10 != b % 10 ? a % 10 < b % 10 : a < b;
    }
};

static void merge_sort(int n)
{
    std::vector<int> in = random_values<int>(n, 100000);
    int *keys = device_copy(in);
    WITH_TEMPORARY(cub::DeviceMergeSort::SortKeys(temporary, bytes, keys, n, by_last_digit()));
    std::sort(in.begin(), in.end(), by_last_digit());
    expect_same("merge sort", host_copy(keys, n), in);
}

int main()
{
    const int N = 30000;
    sort_keys("a few", random_values<unsigned>(5, 100));
    sort_keys("one tile", random_values<unsigned>(2000, 1u << 31));
    sort_keys("unsigned", random_values<unsigned>(N, 1u << 31));
    std::vector<int> ints = random_values<int>(N, 1u << 31);
    for (int i = 0; i < N; i += 2) ints[i] = -ints[i];
    sort_keys("int", ints);
    std::vector<float> floats(N);
    for (int i = 0; i < N; i++) floats[i] = ints[i] * 1e-5f;
    sort_keys("float", floats);
    std::vector<unsigned long long> words(N);
    for (unsigned long long &word : words)
        word = (unsigned long long)next_random() << 32 | next_random();
    sort_keys("64 bits", words);
    sort_pairs(N);
    merge_sort(N);
    return right("CUB's radix and merge sort");
}
