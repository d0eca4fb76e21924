/* device_malloc.cu — malloc, free, new and delete in kernels: memory for a thread, for a block, and
 * memory that one kernel allocates and a later one uses. */
#include "check.cuh"

static const int THREADS = 64, BLOCKS = 4;

static __global__ void of_a_thread(int *out)
{
    int n = threadIdx.x % 8 + 1;
    int *mine = (int *)malloc(n * sizeof(int));
    if (mine == NULL) return;
    for (int i = 0; i < n; i++) mine[i] = (int)threadIdx.x * i;
    int sum = 0;
    for (int i = 0; i < n; i++) sum += mine[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    free(mine);
}

static __global__ void of_a_block(int *out)
{
    __shared__ int *shared;
    if (threadIdx.x == 0) shared = new int[THREADS];
    __syncthreads();
    shared[threadIdx.x] = threadIdx.x + blockIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = shared[THREADS - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) delete[] shared;
}

static __device__ int *kept[BLOCKS];

static __global__ void allocate()
{
    if (threadIdx.x == 0) {
        kept[blockIdx.x] = (int *)malloc(THREADS * sizeof(int));
        memset(kept[blockIdx.x], 0, THREADS * sizeof(int));
    }
}
static __global__ void use() { kept[blockIdx.x][threadIdx.x] += threadIdx.x * blockIdx.x; }
static __global__ void release(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = kept[blockIdx.x][threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(kept[blockIdx.x]);
}

int main()
{
    const int N = BLOCKS * THREADS;
    size_t heap;
    CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    CUDA(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    EXPECT(heap >= 16 << 20);
    int *out = device_array<int>(N);
    std::vector<int> expected(N);
    of_a_thread<<<BLOCKS, THREADS>>>(out);
    CUDA_LAUNCHED();
    for (int i = 0; i < N; i++) {
        int t = i % THREADS, n = t % 8 + 1;
        expected[i] = t * (n * (n - 1) / 2);
    }
    expect_same("of a thread", host_copy(out, N), expected);

    of_a_block<<<BLOCKS, THREADS>>>(out);
    CUDA_LAUNCHED();
    for (int i = 0; i < N; i++) expected[i] = THREADS - 1 - i % THREADS + i / THREADS;
    expect_same("of a block", host_copy(out, N), expected);

    allocate<<<BLOCKS, THREADS>>>();
    for (int round = 0; round < 3; round++) use<<<BLOCKS, THREADS>>>();
    release<<<BLOCKS, THREADS>>>(out);
    CUDA_LAUNCHED();
    for (int i = 0; i < N; i++) expected[i] = 3 * (i % THREADS) * (i / THREADS);
    expect_same("kept", host_copy(out, N), expected);
    return right("malloc, free, new and delete by %d threads", N);
}
