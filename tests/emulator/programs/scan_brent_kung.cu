/* scan_brent_kung.cu — Brent and Kung's circuit: one thread for two elements, a tree of sums,
 * then the sums passed down. Also the variant with several elements per thread (thread
 * coarsening). */
#include "check.cuh"

static const int SECTION = 1024, COARSE = 4;

static __global__ void brent_kung(const int *in, int *out, int n)
{
    __shared__ int s[SECTION];
    int t = threadIdx.x, start = blockIdx.x * SECTION;
    for (int i = t; i < SECTION; i += blockDim.x) s[i] = start + i < n ? in[start + i] : 0;
    for (int stride = 1; stride <= SECTION / 2; stride *= 2) {
        __syncthreads();
        int i = (t + 1) * 2 * stride - 1;
        if (i < SECTION) s[i] += s[i - stride];
    }
    for (int stride = SECTION / 4; stride > 0; stride /= 2) {
        __syncthreads();
        int i = (t + 1) * 2 * stride - 1;
        if (i + stride < SECTION) s[i + stride] += s[i];
    }
    __syncthreads();
    for (int i = t; i < SECTION; i += blockDim.x)
        if (start + i < n) out[start + i] = s[i];
}

/* Each thread scans COARSE neighbouring elements; then the threads' sums are scanned and added. */
static __global__ void coarsened(const int *in, int *out, int n)
{
    __shared__ int s[SECTION], sums[SECTION / COARSE];
    int t = threadIdx.x, start = blockIdx.x * SECTION;
    for (int i = t; i < SECTION; i += blockDim.x) s[i] = start + i < n ? in[start + i] : 0;
    __syncthreads();
    for (int k = 1; k < COARSE; k++) s[t * COARSE + k] += s[t * COARSE + k - 1];
    sums[t] = s[t * COARSE + COARSE - 1];
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        __syncthreads();
        int before = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += before;
    }
    __syncthreads();
    for (int k = 0; t > 0 && k < COARSE; k++) s[t * COARSE + k] += sums[t - 1];
    __syncthreads();
    for (int i = t; i < SECTION; i += blockDim.x)
        if (start + i < n) out[start + i] = s[i];
}

int main()
{
    const int N = 10000, BLOCKS = blocks_for(N, SECTION);
    std::vector<int> in = random_values<int>(N, 1000), expected = in;
    for (int i = 0; i < N; i++)
        if (i % SECTION) expected[i] += expected[i - 1];
    int *device_in = device_copy(in), *out = device_array<int>(N);
    brent_kung<<<BLOCKS, SECTION / 2>>>(device_in, out, N);
    CUDA_LAUNCHED();
    expect_same("Brent-Kung", host_copy(out, N), expected);
    CUDA(cudaMemset(out, 0, N * sizeof(int)));
    coarsened<<<BLOCKS, SECTION / COARSE>>>(device_in, out, N);
    CUDA_LAUNCHED();
    expect_same("coarsened", host_copy(out, N), expected);
    return right("Brent-Kung scans of sections of %d", SECTION);
}
