/* cub_device.cu — functions for arrays: CUB's scans, reductions, selections, sorts, run lengths and
 * histograms, and Thrust's. */
#include "check.cuh"
#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <functional>
#include <numeric>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

/* CUB's two calls: the first only returns how much temporary memory the second one needs. `call`
 * names them `temporary` and `bytes`. */
#define WITH_TEMPORARY(call)                                                                       \
    do {                                                                                           \
        void *temporary = NULL;                                                                    \
        size_t bytes = 0;                                                                          \
        CUDA(call);                                                                                \
        CUDA(cudaMalloc(&temporary, bytes));                                                       \
        CUDA(call);                                                                                \
        CUDA_LAUNCHED();                                                                           \
        CUDA(cudaFree(temporary));                                                                 \
    } while (0)

/* CUB's device-wide scans: sums, any operator, a starting value, in place, by key. */
namespace cub_scan
{
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

static int run()
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
} // namespace cub_scan

/* CUB's device-wide reductions: sum, minimum and maximum with their places, any operator, sums of
 * segments, and sums of runs of equal keys. */
namespace cub_reduce
{
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

static int run()
{
    whole_array(1);
    whole_array(1001);
    whole_array(200000);
    segments();
    runs_of_keys();
    return right("CUB's device-wide reductions");
}
} // namespace cub_reduce

/* CUB's stream compaction: by a condition, by flags, without repetitions, and into two parts. */
namespace cub_select
{
struct divisible_by {
    int divisor;
    __host__ __device__ bool operator()(int value) const { return value % divisor == 0; }
};

static void expect_selected(const char *what, const int *out, const int *count,
                            const std::vector<int> &expected)
{
    EXPECT(host_copy(count, 1)[0] == (int)expected.size());
    expect_same(what, host_copy(out, expected.size()), expected);
}

static void try_length(int n)
{
    std::vector<int> in = random_values<int>(n, 12), chosen, rest;
    std::vector<char> flag(n);
    int *values = device_copy(in), *out = device_array<int>(n), *count = device_array<int>(1);
    divisible_by three = {3};

    for (int value : in) (three(value) ? chosen : rest).push_back(value);
    WITH_TEMPORARY(cub::DeviceSelect::If(temporary, bytes, values, out, count, n, three));
    expect_selected("if", out, count, chosen);

    WITH_TEMPORARY(cub::DevicePartition::If(temporary, bytes, values, out, count, n, three));
    expect_selected("partition", out, count, chosen);
    std::vector<int> back(rest.rbegin(), rest.rend()); /* the others, from the end */
    expect_same("rest", host_copy(out + chosen.size(), back.size()), back);

    chosen.clear();
    for (int i = 0; i < n; i++) {
        flag[i] = next_random() % 5 == 0;
        if (flag[i]) chosen.push_back(in[i]);
    }
    char *flags = device_copy(flag);
    WITH_TEMPORARY(cub::DeviceSelect::Flagged(temporary, bytes, values, flags, out, count, n));
    expect_selected("flagged", out, count, chosen);

    chosen.clear();
    for (int i = 0; i < n; i++)
        if (i == 0 || in[i] != in[i - 1]) chosen.push_back(in[i]);
    WITH_TEMPORARY(cub::DeviceSelect::Unique(temporary, bytes, values, out, count, n));
    expect_selected("unique", out, count, chosen);
    CUDA(cudaFree(values));
    CUDA(cudaFree(out));
}

static int run()
{
    const int lengths[] = {1, 777, 50000};
    for (int n : lengths) try_length(n);
    return right("CUB's selections and partition");
}
} // namespace cub_select

/* CUB's radix sort (unsigned, signed, float, 64-bit, downwards, pairs, some bits) and its merge
 * sort, which takes any order. */
namespace cub_sort
{
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

static int run()
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
} // namespace cub_sort

/* CUB's run-length encoding, the runs longer than one, and its histograms. */
namespace cub_run_length
{
static void run_lengths(int n)
{
    std::vector<int> in(n), value, length, offset, longer;
    for (int i = 0; i < n; i++) {
        in[i] = i > 0 && next_random() % 3 ? in[i - 1] : (int)(next_random() % 50);
        if (i > 0 && in[i] == in[i - 1]) {
            length.back()++;
            continue;
        }
        value.push_back(in[i]);
        length.push_back(1);
        offset.push_back(i);
    }
    const size_t runs = value.size();
    int *device = device_copy(in), *values = device_array<int>(n), *lengths = device_array<int>(n);
    int *count = device_array<int>(1);
    WITH_TEMPORARY(
        cub::DeviceRunLengthEncode::Encode(temporary, bytes, device, values, lengths, count, n));
    EXPECT(host_copy(count, 1)[0] == (int)runs);
    expect_same("value", host_copy(values, runs), value);
    expect_same("length", host_copy(lengths, runs), length);

    std::vector<int> starts;
    for (size_t i = 0; i < runs; i++) {
        if (length[i] == 1) continue;
        starts.push_back(offset[i]);
        longer.push_back(length[i]);
    }
    WITH_TEMPORARY(cub::DeviceRunLengthEncode::NonTrivialRuns(temporary, bytes, device, values,
                                                              lengths, count, n));
    EXPECT(host_copy(count, 1)[0] == (int)starts.size());
    expect_same("start of a run", host_copy(values, starts.size()), starts);
    expect_same("its length", host_copy(lengths, starts.size()), longer);
}

static void histograms(int n)
{
    const int BINS = 64;
    std::vector<unsigned char> in = random_values<unsigned char>(n, 256);
    std::vector<int> expected(BINS, 0);
    for (unsigned char value : in) expected[value / 4]++;
    unsigned char *samples = device_copy(in);
    int *bins = device_array<int>(BINS);
    WITH_TEMPORARY(
        cub::DeviceHistogram::HistogramEven(temporary, bytes, samples, bins, BINS + 1, 0, 256, n));
    expect_same("even bins", host_copy(bins, BINS), expected);

    std::vector<float> values = random_values<float>(n, 1000);
    std::vector<float> border = {0, 1, 10, 100, 900}; /* values from 900 on are in no bin */
    std::vector<int> decades(border.size() - 1, 0);
    for (float value : values)
        for (size_t b = 0; b + 1 < border.size(); b++)
            decades[b] += border[b] <= value && value < border[b + 1];
    float *device = device_copy(values), *borders = device_copy(border);
    WITH_TEMPORARY(cub::DeviceHistogram::HistogramRange(temporary, bytes, device, bins,
                                                        (int)border.size(), borders, n));
    expect_same("ranges", host_copy(bins, decades.size()), decades);
}

static int run()
{
    run_lengths(100);
    run_lengths(40000);
    histograms(40000);
    return right("CUB's run lengths and histograms");
}
} // namespace cub_run_length

/* Thrust's other algorithms: transform, reduce, scan, count, copy_if, unique, reduce_by_key, binary
 * search, set operations, inner product, and lazy iterators. */
namespace thrust_algorithms
{
struct is_odd {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};
struct square {
    __host__ __device__ long long operator()(long long x) const { return x * x; }
};
struct saxpy {
    int a;
    __host__ __device__ int operator()(int x, int y) const { return a * x + y; }
};

static std::vector<int> copy_of(const thrust::device_vector<int> &device, size_t n)
{
    std::vector<int> host(n);
    thrust::copy(device.begin(), device.begin() + n, host.begin());
    return host;
}

static int run()
{
    const int N = 10007;
    const std::vector<int> x = random_values<int>(N, 50), y = random_values<int>(N, 50);
    thrust::device_vector<int> dx(x.begin(), x.end()), dy(y.begin(), y.end()), out(N), keys(N);
    std::vector<int> expected(N);

    thrust::transform(dx.begin(), dx.end(), dy.begin(), out.begin(), saxpy{7});
    std::transform(x.begin(), x.end(), y.begin(), expected.begin(), saxpy{7});
    expect_same("transform", copy_of(out, N), expected);

    EXPECT(thrust::reduce(dx.begin(), dx.end()) == std::accumulate(x.begin(), x.end(), 0));
    EXPECT(thrust::count_if(dx.begin(), dx.end(), is_odd()) ==
           std::count_if(x.begin(), x.end(), is_odd()));
    EXPECT(thrust::inner_product(dx.begin(), dx.end(), dy.begin(), 0) ==
           std::inner_product(x.begin(), x.end(), y.begin(), 0));
    EXPECT(thrust::max_element(dx.begin(), dx.end()) - dx.begin() ==
           std::max_element(x.begin(), x.end()) - x.begin());
    thrust::counting_iterator<long long> zero(0);
    EXPECT(thrust::transform_reduce(zero, zero + 1000, square(), 0ll, thrust::plus<long long>()) ==
           999ll * 1000 * 1999 / 6);

    thrust::inclusive_scan(dx.begin(), dx.end(), out.begin());
    std::partial_sum(x.begin(), x.end(), expected.begin());
    expect_same("inclusive scan", copy_of(out, N), expected);
    thrust::exclusive_scan(dx.begin(), dx.end(), out.begin(), 5);
    for (int i = N - 1; i >= 0; i--) expected[i] += 5 - x[i];
    expect_same("exclusive scan", copy_of(out, N), expected);

    std::vector<int> chosen;
    std::copy_if(x.begin(), x.end(), std::back_inserter(chosen), is_odd());
    size_t n = thrust::copy_if(dx.begin(), dx.end(), out.begin(), is_odd()) - out.begin();
    EXPECT(n == chosen.size());
    expect_same("copy_if", copy_of(out, n), chosen);

    std::vector<int> sorted = x, distinct;
    std::sort(sorted.begin(), sorted.end());
    std::unique_copy(sorted.begin(), sorted.end(), std::back_inserter(distinct));
    thrust::device_vector<int> ds(sorted.begin(), sorted.end());
    auto ends = thrust::reduce_by_key(ds.begin(), ds.end(), dy.begin(), keys.begin(), out.begin());
    n = ends.first - keys.begin();
    EXPECT(n == distinct.size());
    std::vector<int> sums(n, 0);
    for (int i = 0, run = 0; i < N; sums[run] += y[i++])
        if (i > 0 && sorted[i] != sorted[i - 1]) run++;
    expect_same("reduce_by_key", copy_of(out, n), sums);
    EXPECT((size_t)(thrust::lower_bound(ds.begin(), ds.end(), 25) - ds.begin()) ==
           (size_t)(std::lower_bound(sorted.begin(), sorted.end(), 25) - sorted.begin()));
    EXPECT((size_t)(thrust::unique(ds.begin(), ds.end()) - ds.begin()) == distinct.size());
    expect_same("unique", copy_of(ds, distinct.size()), distinct);
    return right("Thrust: eleven algorithms");
}
} // namespace thrust_algorithms

PROGRAMS({"cub_scan", cub_scan::run}, {"cub_reduce", cub_reduce::run},
        {"cub_select", cub_select::run}, {"cub_sort", cub_sort::run},
        {"cub_run_length", cub_run_length::run}, {"thrust_algorithms", thrust_algorithms::run})
