/* compaction.cu — keeps the elements that satisfy a condition: in order by a scan of flags, or in
 * any order with one atomic per warp. */
#include "check.cuh"
#include <algorithm>

static const int THREADS = 256;

static __host__ __device__ bool keep(int value) { return value % 3 == 1; }

/* In order: a block scans its flags with ballots; the blocks' starts come from a first pass. */
static __global__ void count(const int *in, int n, int *counts)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int kept = __syncthreads_count(i < n && keep(in[i]));
    if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}

static __global__ void place(const int *in, int n, const int *starts, int *out)
{
    __shared__ int warp_count[THREADS / 32];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    bool mine = i < n && keep(in[i]);
    unsigned votes = __ballot_sync(0xffffffff, mine);
    if (t % 32 == 0) warp_count[t / 32] = __popc(votes);
    __syncthreads();
    int at = starts[blockIdx.x] + __popc(votes & ((1u << t % 32) - 1));
    for (int w = 0; w < t / 32; w++) at += warp_count[w];
    if (mine) out[at] = in[i];
}

/* In any order: the active lanes elect one lane, which reserves room for all of them. */
static __global__ void aggregated(const int *in, int n, int *out, int *size)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n || !keep(in[i])) return;
    unsigned here = __activemask();
    int leader = __ffs(here) - 1, lane = threadIdx.x % 32, start = 0;
    if (lane == leader) start = atomicAdd(size, __popc(here));
    start = __shfl_sync(here, start, leader);
    out[start + __popc(here & ((1u << lane) - 1))] = in[i];
}

int main()
{
    const int N = 12345, BLOCKS = blocks_for(N, THREADS);
    std::vector<int> in = random_values<int>(N, 1000), expected;
    for (int value : in)
        if (keep(value)) expected.push_back(value);
    int *device_in = device_copy(in), *out = device_array<int>(N),
        *counts = device_array<int>(BLOCKS);

    count<<<BLOCKS, THREADS>>>(device_in, N, counts);
    CUDA_LAUNCHED();
    std::vector<int> starts = host_copy(counts, BLOCKS);
    int kept = 0;
    for (int &start : starts) {
        int here = start;
        start = kept;
        kept += here;
    }
    EXPECT(kept == (int)expected.size());
    place<<<BLOCKS, THREADS>>>(device_in, N, device_copy(starts), out);
    CUDA_LAUNCHED();
    expect_same("in order", host_copy(out, kept), expected);

    int *size = device_copy(std::vector<int>(1, 0));
    aggregated<<<BLOCKS, THREADS>>>(device_in, N, out, size);
    CUDA_LAUNCHED();
    EXPECT(host_copy(size, 1)[0] == kept);
    std::vector<int> got = host_copy(out, kept);
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    expect_same("in any order", got, expected);
    return right("compaction of %d ints, two ways", N);
}
