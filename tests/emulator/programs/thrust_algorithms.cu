/* thrust_algorithms.cu — Thrust's other algorithms: transform, reduce, scan, count, copy_if,
 * unique, reduce_by_key, binary search, set operations, inner product, and lazy iterators. */
#include "check.cuh"
#include <algorithm>
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

int main()
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
