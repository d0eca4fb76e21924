/* histogram.cu — 256 bins: atomics in global memory, atomics in a copy of the bins in shared memory
 * for each block, and one copy for each warp. */
#include "check.cuh"

static const int BINS = 256, THREADS = 192, WARPS = THREADS / 32, BLOCKS = 6;

static __global__ void in_global(const unsigned char *data, int n, unsigned *bins)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        atomicAdd(&bins[data[i]], 1);
}

static __global__ void in_shared(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned mine[BINS];
    for (int b = threadIdx.x; b < BINS; b += THREADS) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        atomicAdd(&mine[data[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += THREADS) atomicAdd(&bins[b], mine[b]);
}

/* Four bytes at a time. */
static __global__ void by_warps(const uchar4 *data, int quads, unsigned *bins)
{
    __shared__ unsigned copies[WARPS][BINS];
    unsigned *mine = copies[threadIdx.x / 32];
    for (int b = threadIdx.x; b < WARPS * BINS; b += THREADS) copies[0][b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < quads; i += gridDim.x * THREADS) {
        uchar4 quad = data[i];
        atomicAdd(&mine[quad.x], 1);
        atomicAdd(&mine[quad.y], 1);
        atomicAdd(&mine[quad.z], 1);
        atomicAdd(&mine[quad.w], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += THREADS) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++) sum += copies[w][b];
        atomicAdd(&bins[b], sum);
    }
}

int main()
{
    const int N = 40000;
    std::vector<unsigned char> data(N);
    std::vector<unsigned> expected(BINS, 0);
    for (unsigned char &byte : data) {
        byte = (unsigned char)(next_random() % 256 * (next_random() % 256) / 256); /* uneven */
        expected[byte]++;
    }
    unsigned char *device = device_copy(data);
    unsigned *bins = device_array<unsigned>(BINS);
    for (int way = 0; way < 3; way++) {
        CUDA(cudaMemset(bins, 0, BINS * sizeof *bins));
        if (way == 0) in_global<<<BLOCKS, THREADS>>>(device, N, bins);
        if (way == 1) in_shared<<<BLOCKS, THREADS>>>(device, N, bins);
        if (way == 2) by_warps<<<BLOCKS, THREADS>>>((const uchar4 *)device, N / 4, bins);
        CUDA_LAUNCHED();
        expect_same("bin", host_copy(bins, BINS), expected);
    }
    return right("histograms of %d bytes, three ways", N);
}
