/* cub_block.cu — CUB's block-wide functions for kernels: load and store through shared memory,
 * scan, reduce, radix sort, and differences between neighbours. */
#include "check.cuh"
#include <algorithm>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

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

int main()
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
