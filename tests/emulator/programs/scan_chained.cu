/* scan_chained.cu — a scan in a single pass over memory: blocks take tiles in order, publish their
 * sum, and look back at their predecessors. A word holds both a state and a value, so both change
 * at the same time. A block waits in a loop for the blocks before it. */
#include "check.cuh"
#include <cuda/atomic>

static const int THREADS = 128;
enum { NOTHING, SUM_OF_TILE, PREFIX }; /* the state, in the upper half of the word */

typedef cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word;

static __device__ unsigned long long pack(int state, int value)
{
    return (unsigned long long)state << 32 | (unsigned)value;
}

/* The sum of all tiles before this one. */
static __device__ int look_back(unsigned long long *states, int tile)
{
    int sum = 0;
    for (int before = tile - 1; before >= 0;) {
        unsigned long long seen = word(states[before]).load(cuda::memory_order_acquire);
        if (seen >> 32 == NOTHING) continue;
        sum += (int)(unsigned)seen;
        if (seen >> 32 == PREFIX) break;
        before--;
    }
    return sum;
}

static __global__ void scan(const int *in, int *out, int n, unsigned *next_tile,
                            unsigned long long *states)
{
    __shared__ int s[THREADS], tile, before;
    int t = threadIdx.x;
    if (t == 0) tile = atomicAdd(next_tile, 1); /* in the order in which blocks start */
    __syncthreads();
    int i = tile * THREADS + t;
    s[t] = i < n ? in[i] : 0;
    for (int distance = 1; distance < THREADS; distance *= 2) {
        __syncthreads();
        int left = t >= distance ? s[t - distance] : 0;
        __syncthreads();
        s[t] += left;
    }
    if (t == THREADS - 1) {
        word mine(states[tile]);
        if (tile > 0) mine.store(pack(SUM_OF_TILE, s[t]), cuda::memory_order_release);
        before = look_back(states, tile);
        mine.store(pack(PREFIX, before + s[t]), cuda::memory_order_release);
    }
    __syncthreads();
    if (i < n) out[i] = before + s[t];
}

int main()
{
    const int N = 100000, TILES = blocks_for(N, THREADS);
    std::vector<int> in = random_values<int>(N, 1000), expected(N);
    for (int i = 0, sum = 0; i < N; i++) expected[i] = sum += in[i];
    int *device_in = device_copy(in), *out = device_array<int>(N);
    unsigned *next_tile = device_array<unsigned>(1);
    unsigned long long *states = device_array<unsigned long long>(TILES);
    for (int round = 0; round < 3; round++) {
        CUDA(cudaMemset(next_tile, 0, sizeof *next_tile));
        CUDA(cudaMemset(states, 0, TILES * sizeof *states));
        scan<<<TILES, THREADS>>>(device_in, out, N, next_tile, states);
        CUDA_LAUNCHED();
        expect_same("out", host_copy(out, N), expected);
    }
    return right("chained scan of %d ints in %d tiles", N, TILES);
}
