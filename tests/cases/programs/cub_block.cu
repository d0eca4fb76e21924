/* cub_block.cu — CUB's parts of kernels: for a block, and for a warp. */
#include "check.cuh"
#include <algorithm>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

/* CUB's block-wide functions for kernels: load and store through shared memory, scan, reduce, radix
 * sort, and differences between neighbours. */
namespace cub_block
{
static const int THREADS = 96, ITEMS = 5, TILE = THREADS * ITEMS; /* not a power of two */

typedef cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE> load;
typedef cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE> store;

template <cub::BlockScanAlgorithm ALGORITHM>
static __global__ void scan_tiles(const int *in, int *out, int *totals, int n)
{
    typedef cub::BlockScan<int, THREADS, ALGORITHM> scan;
    __shared__ union {
        typename load::TempStorage load;
        typename store::TempStorage store;
        typename scan::TempStorage scan;
    } shared;
    int start = blockIdx.x * TILE, left = n - start, items[ITEMS], total;
    load(shared.load).Load(in + start, items, left, 0);
    __syncthreads();
    scan(shared.scan).ExclusiveSum(items, items, total);
    __syncthreads();
    store(shared.store).Store(out + start, items, left);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

static __global__ void sort_tile(const int *in, int *out, int *first, int *largest)
{
    typedef cub::BlockRadixSort<int, THREADS, ITEMS> sort;
    typedef cub::BlockDiscontinuity<int, THREADS> discontinuity;
    typedef cub::BlockReduce<int, THREADS> reduce;
    __shared__ union {
        sort::TempStorage sort;
        discontinuity::TempStorage discontinuity;
        reduce::TempStorage reduce;
    } shared;
    int items[ITEMS], flags[ITEMS];
    cub::LoadDirectBlocked(threadIdx.x, in, items);
    sort(shared.sort).Sort(items);
    __syncthreads();
    discontinuity(shared.discontinuity).FlagHeads(flags, items, cuda::std::not_equal_to<>());
    __syncthreads();
    int most = reduce(shared.reduce).Reduce(items, cuda::maximum<>());
    cub::StoreDirectBlocked(threadIdx.x, out, items);
    cub::StoreDirectBlocked(threadIdx.x, first, flags);
    if (threadIdx.x == 0) *largest = most;
}

static void try_scan(const char *what, void (*kernel)(const int *, int *, int *, int))
{
    const int N = 3 * TILE + 17, BLOCKS = 4;
    std::vector<int> in = random_values<int>(N, 1000), expected(N), totals(BLOCKS, 0);
    for (int i = 0; i < N; i++) {
        expected[i] = totals[i / TILE];
        totals[i / TILE] += in[i];
    }
    int *out = device_array<int>(N), *device_totals = device_array<int>(BLOCKS);
    kernel<<<BLOCKS, THREADS>>>(device_copy(in), out, device_totals, N);
    CUDA_LAUNCHED();
    expect_same(what, host_copy(out, N), expected);
    expect_same("total", host_copy(device_totals, BLOCKS), totals);
}

static int run()
{
    try_scan("raking scan", scan_tiles<cub::BLOCK_SCAN_RAKING>);
    try_scan("scan by warps", scan_tiles<cub::BLOCK_SCAN_WARP_SCANS>);

    std::vector<int> in = random_values<int>(TILE, 200), first(TILE);
    for (int &value : in) value -= 100;
    int *out = device_array<int>(TILE), *heads = device_array<int>(TILE);
    int *largest = device_array<int>(1);
    sort_tile<<<1, THREADS>>>(device_copy(in), out, heads, largest);
    CUDA_LAUNCHED();
    std::sort(in.begin(), in.end());
    for (int i = 0; i < TILE; i++) first[i] = i == 0 || in[i] != in[i - 1];
    expect_same("sorted", host_copy(out, TILE), in);
    expect_same("first of its value", host_copy(heads, TILE), first);
    EXPECT(host_copy(largest, 1)[0] == in.back());
    return right("CUB's block-wide parts");
}
} // namespace cub_block

/* CUB's parts for a warp: scan, reduce (also by segments and of a part of a warp), exchange, merge
 * sort. */
namespace cub_warp
{
static const int THREADS = 128, WARPS = THREADS / 32, ITEMS = 4;

static __global__ void scan_and_reduce(const int *in, int *scanned, int *sum, int *sum_of_8,
                                       int *tail_sum)
{
    typedef cub::WarpScan<int> scan;
    typedef cub::WarpReduce<int> reduce;
    typedef cub::WarpReduce<int, 8> reduce_8;
    __shared__ scan::TempStorage scan_storage[WARPS];
    __shared__ reduce::TempStorage storage[WARPS];
    __shared__ reduce_8::TempStorage storage_8[THREADS / 8];
    int i = threadIdx.x, warp = i / 32, value = in[i], result;
    scan(scan_storage[warp]).InclusiveSum(value, result);
    scanned[i] = result;
    result = reduce(storage[warp]).Sum(value);
    if (i % 32 == 0) sum[warp] = result;
    result = reduce_8(storage_8[i / 8]).Reduce(value, cuda::maximum<>());
    if (i % 8 == 0) sum_of_8[i / 8] = result;
    __syncwarp();
    tail_sum[i] = reduce(storage[warp]).HeadSegmentedSum(value, i % 5 == 0);
}

struct upwards {
    __device__ bool operator()(int a, int b) const { return a < b; }
};

static __global__ void sort_in_warps(const int *in, int *sorted, int *striped)
{
    typedef cub::WarpMergeSort<int, ITEMS> sort;
    typedef cub::WarpExchange<int, ITEMS> exchange;
    __shared__ sort::TempStorage sort_storage[WARPS];
    __shared__ exchange::TempStorage exchange_storage[WARPS];
    int warp = threadIdx.x / 32, start = threadIdx.x * ITEMS, items[ITEMS];
    for (int i = 0; i < ITEMS; i++) items[i] = in[start + i];
    sort(sort_storage[warp]).Sort(items, upwards());
    for (int i = 0; i < ITEMS; i++) sorted[start + i] = items[i];
    exchange(exchange_storage[warp]).BlockedToStriped(items, items);
    for (int i = 0; i < ITEMS; i++) striped[start + i] = items[i];
}

static int run()
{
    std::vector<int> in = random_values<int>(THREADS, 1000), scan(THREADS), sum(WARPS, 0);
    std::vector<int> most(THREADS / 8, 0), segment(THREADS, 0);
    for (int i = 0; i < THREADS; i++) {
        scan[i] = sum[i / 32] += in[i];
        most[i / 8] = std::max(most[i / 8], in[i]);
    }
    int *out[4];
    for (int *&array : out) array = device_array<int>(THREADS);
    scan_and_reduce<<<1, THREADS>>>(device_copy(in), out[0], out[1], out[2], out[3]);
    CUDA_LAUNCHED();
    expect_same("warp scan", host_copy(out[0], THREADS), scan);
    expect_same("warp sum", host_copy(out[1], WARPS), sum);
    expect_same("maximum of 8", host_copy(out[2], THREADS / 8), most);
    std::vector<int> segments = host_copy(out[3], THREADS);
    for (int i = 0; i < THREADS; i++) {
        if (i % 5 && i % 32) continue; /* only the first lane of a segment has its sum */
        int expected = in[i];
        for (int j = i + 1; j % 5 && j % 32; j++) expected += in[j];
        EXPECT(segments[i] == expected);
    }

    const int N = THREADS * ITEMS, PART = 32 * ITEMS;
    std::vector<int> keys = random_values<int>(N, 5000), striped(N);
    int *sorted = device_array<int>(N), *exchanged = device_array<int>(N);
    sort_in_warps<<<1, THREADS>>>(device_copy(keys), sorted, exchanged);
    CUDA_LAUNCHED();
    for (int w = 0; w < WARPS; w++)
        std::sort(keys.begin() + w * PART, keys.begin() + (w + 1) * PART);
    for (int w = 0; w < WARPS; w++)
        for (int lane = 0; lane < 32; lane++)
            for (int i = 0; i < ITEMS; i++)
                striped[w * PART + lane * ITEMS + i] = keys[w * PART + i * 32 + lane];
    expect_same("sorted", host_copy(sorted, N), keys);
    expect_same("striped", host_copy(exchanged, N), striped);
    return right("CUB's warp-wide parts");
}
} // namespace cub_warp

PROGRAMS({"cub_block", cub_block::run}, {"cub_warp", cub_warp::run})
