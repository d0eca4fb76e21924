/* threads.cu — programs whose threads work together: by atomic sums, and in cooperative
 * groups. */
#include "check.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda_fp16.h>

/* Atomic sums of float, double, half2 and pairs of words; the scopes _block and _system;
 * cuda::atomic_ref. The elements are small integers, so sums are exact in any order. */
namespace atomics_float
{
struct sums {
    float floats;
    double doubles;
    __half2 halves;
    float of_block;
    unsigned long long of_system;
    unsigned relaxed;
    int largest;
};

static __global__ void add_up(sums *sum)
{
    __shared__ float of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sum->floats, (float)(i % 8));
    atomicAdd(&sum->doubles, i * 0.25);
    atomicAdd(&sum->halves, __floats2half2_rn(1, i % 2));
    atomicAdd_block(&of_block, 2.0f);
    atomicAdd_system(&sum->of_system, (unsigned long long)i << 20);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(sum->relaxed)
        .fetch_add(i, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(sum->largest).fetch_max((int)(i ^ 85));
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&sum->of_block, of_block);
}

static int run()
{
    const unsigned BLOCKS = 3, THREADS = 200, N = BLOCKS * THREADS;
    sums *device = device_array<sums>(1);
    CUDA(cudaMemset(device, 0, sizeof(sums)));
    add_up<<<BLOCKS, THREADS>>>(device);
    CUDA_LAUNCHED();
    sums got = host_copy(device, 1)[0];

    float floats = 0;
    double doubles = 0;
    unsigned total = 0;
    int largest = 0;
    for (unsigned i = 0; i < N; i++) {
        floats += i % 8;
        doubles += i * 0.25;
        total += i;
        largest = (int)(i ^ 85) > largest ? (int)(i ^ 85) : largest;
    }
    EXPECT(got.floats == floats);
    EXPECT(got.doubles == doubles);
    EXPECT(__low2float(got.halves) == N && __high2float(got.halves) == N / 2);
    EXPECT(got.of_block == 2.0f * N);
    EXPECT(got.of_system == (unsigned long long)total << 20);
    EXPECT(got.relaxed == total);
    EXPECT(got.largest == largest);
    return right("atomic sums of float, double, half2, and with scopes");
}
} // namespace atomics_float

/* Cooperative groups within a block: tiles of every size, scans and reductions over them, groups of
 * the active lanes, and of lanes with the same value. */
namespace cg_groups
{
namespace cg = cooperative_groups;

static const int THREADS = 128;

/* Generic over the group: a tile, or a coalesced group. */
template <typename Group> static __device__ int sum_of(Group group, int value)
{
    for (int step = group.size() / 2; step > 0; step /= 2) value += group.shfl_down(value, step);
    return group.shfl(value, 0);
}

template <int SIZE>
static __global__ void tiles(const int *in, int *sum, int *scan, int *most, unsigned *ballot)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<SIZE> tile = cg::tiled_partition<SIZE>(block);
    int i = block.thread_rank(), value = in[i];
    sum[i] = sum_of(tile, value);
    scan[i] = cg::inclusive_scan(tile, value);
    most[i] = cg::reduce(tile, value, cg::greater<int>());
    ballot[i] = tile.ballot(value % 2) |
                (tile.any(value > 95) ? 1u << 31 : 0) ^ (tile.all(value > 5) ? 1u << 30 : 0);
    block.sync();
}

template <int SIZE> static void try_tiles(const std::vector<int> &in, const int *device_in)
{
    int *out[3];
    for (int *&array : out) array = device_array<int>(THREADS);
    unsigned *device_ballot = device_array<unsigned>(THREADS);
    tiles<SIZE><<<1, THREADS>>>(device_in, out[0], out[1], out[2], device_ballot);
    CUDA_LAUNCHED();
    std::vector<int> sum(THREADS), scan(THREADS), most(THREADS);
    std::vector<unsigned> ballot(THREADS);
    for (int first = 0; first < THREADS; first += SIZE) {
        int total = 0, largest = 0;
        unsigned odd = 0, any = 0, all = 1u << 30;
        for (int i = first; i < first + SIZE; i++) {
            scan[i] = total += in[i];
            largest = in[i] > largest ? in[i] : largest;
            odd |= (unsigned)(in[i] % 2) << (i - first);
            if (in[i] > 95) any = 1u << 31;
            if (in[i] <= 5) all = 0;
        }
        for (int i = first; i < first + SIZE; i++) {
            sum[i] = total;
            most[i] = largest;
            ballot[i] = odd | any ^ all;
        }
    }
    expect_same("sum of a tile", host_copy(out[0], THREADS), sum);
    expect_same("scan of a tile", host_copy(out[1], THREADS), scan);
    expect_same("maximum of a tile", host_copy(out[2], THREADS), most);
    expect_same("ballot of a tile", host_copy(device_ballot, THREADS), ballot);
}

/* How many of the warp's threads took my branch, and which of them I am; how many share
 * my value. */
static __global__ void together(const int *in, int *size, int *rank, int *same)
{
    int i = threadIdx.x;
    cg::coalesced_group warp = cg::coalesced_threads();
    cg::coalesced_group agreeing = cg::labeled_partition(warp, in[i] % 3);
    same[i] = cg::reduce(agreeing, 1, cg::plus<int>());
    if (in[i] % 2) {
        cg::coalesced_group odd = cg::coalesced_threads();
        size[i] = odd.size();
        rank[i] = odd.thread_rank();
    }
}

static void try_together(const std::vector<int> &in, const int *device_in)
{
    int *out[3];
    for (int *&array : out) array = device_copy(std::vector<int>(THREADS, -1));
    together<<<1, THREADS>>>(device_in, out[0], out[1], out[2]);
    CUDA_LAUNCHED();
    std::vector<int> size(THREADS, -1), rank(THREADS, -1), same(THREADS, 0);
    for (int i = 0; i < THREADS; i++)
        for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++) {
            same[i] += in[j] % 3 == in[i] % 3;
            if (in[i] % 2 == 0) continue;
            size[i] += in[j] % 2 + (j == i);
            rank[i] += j < i ? in[j] % 2 : j == i;
        }
    expect_same("size", host_copy(out[0], THREADS), size);
    expect_same("rank", host_copy(out[1], THREADS), rank);
    expect_same("same", host_copy(out[2], THREADS), same);
}

static int run()
{
    std::vector<int> in = random_values<int>(THREADS, 100);
    int *device_in = device_copy(in);
    try_tiles<2>(in, device_in);
    try_tiles<8>(in, device_in);
    try_tiles<16>(in, device_in);
    try_together(in, device_in);
    return right("groups of threads within a block");
}
} // namespace cg_groups

PROGRAMS({"atomics_float", atomics_float::run}, {"cg_groups", cg_groups::run})
