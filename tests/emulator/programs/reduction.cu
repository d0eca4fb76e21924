/* reduction.cu — the classic sequence of sums over an array: neighbours first (with divergent
 * warps), then strided without bank conflicts, an addition while loading, the last warp by
 * shuffles, and all of it as a template over the block size. */
#include "check.cuh"

static __global__ void interleaved(const int *in, int *out, int n)
{
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

static __global__ void sequential(const int *in, int *out, int n)
{
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

template <unsigned THREADS> static __global__ void unrolled(const int *in, int *out, int n)
{
    __shared__ int s[THREADS];
    unsigned t = threadIdx.x;
    int sum = 0;
    for (unsigned i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS) sum += in[i];
    s[t] = sum;
    __syncthreads();
#pragma unroll
    for (unsigned step = THREADS / 2; step >= 32; step /= 2) {
        if (t < step) s[t] = sum = sum + s[t + step];
        __syncthreads();
    }
    if (t < 32) {
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
        if (t == 0) out[blockIdx.x] = sum;
    }
}

template <typename Kernel>
static void try_kernel(const char *name, Kernel kernel, int blocks, int threads, size_t shared,
                       const int *in, int n, long long expected)
{
    int *sums = device_array<int>(blocks);
    kernel<<<blocks, threads, shared>>>(in, sums, n);
    CUDA_LAUNCHED();
    long long sum = 0;
    for (int s : host_copy(sums, blocks)) sum += s;
    if (sum != expected) {
        printf("%s: the sum is %lld, not %lld\n", name, sum, expected);
        exit(EXIT_WRONG);
    }
    CUDA(cudaFree(sums));
}

int main()
{
    const int N = 30001;
    std::vector<int> values = random_values<int>(N, 1000);
    long long sum = 0;
    for (int value : values) sum += value;
    int *in = device_copy(values);
    const int T = 256, BLOCKS = blocks_for(N, T);
    try_kernel("interleaved", interleaved, BLOCKS, T, T * sizeof(int), in, N, sum);
    try_kernel("sequential", sequential, BLOCKS, T, T * sizeof(int), in, N, sum);
    try_kernel("64 threads", unrolled<64>, 13, 64, 0, in, N, sum);
    try_kernel("512 threads", unrolled<512>, 13, 512, 0, in, N, sum);
    try_kernel("32 threads", unrolled<32>, 1, 32, 0, in, N, sum);
    return right("five reductions of %d ints", N);
}
