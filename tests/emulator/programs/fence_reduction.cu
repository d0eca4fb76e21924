/* fence_reduction.cu — a sum in a single launch: each block publishes its part, a fence, a counter;
 * the block that finishes last adds up the parts. */
#include "check.cuh"

static const int THREADS = 128;

static __device__ unsigned finished = 0;

static __device__ float block_sum(float value)
{
    __shared__ float s[THREADS];
    s[threadIdx.x] = value;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    float sum = s[0];
    __syncthreads();
    return sum;
}

static __global__ void sum_all(const float *in, int n, volatile float *parts, float *result)
{
    __shared__ bool is_last;
    float value = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        value += in[i];
    value = block_sum(value);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = value;
        __threadfence(); /* the part is visible before the counter */
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1; /* the counter wraps to 0 */
    }
    __syncthreads();
    if (!is_last) return;
    value = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) value += parts[i];
    value = block_sum(value);
    if (threadIdx.x == 0) *result = value;
}

int main()
{
    const int N = 40000, BLOCKS = 150;
    std::vector<float> in = random_values<float>(N, 16);
    float sum = 0;
    for (float value : in) sum += value; /* below 2^24: exact */
    float *device_in = device_copy(in), *parts = device_array<float>(BLOCKS);
    float *result = device_array<float>(1);
    for (int round = 0; round < 3; round++) { /* the counter is ready for the next launch */
        CUDA(cudaMemset(result, 0, sizeof(float)));
        sum_all<<<BLOCKS, THREADS>>>(device_in, N, parts, result);
        CUDA_LAUNCHED();
        EXPECT(host_copy(result, 1)[0] == sum);
    }
    return right("sum of %d floats by %d blocks in one launch", N, BLOCKS);
}
