/* scan_hierarchical.cu — any length in three kernels: each block scans its part and notes the sum,
 * the sums are scanned (by the same, again), and added to the parts. */
#include "check.cuh"

static const int THREADS = 128, PART = 2 * THREADS;

static __global__ void scan_parts(const int *in, int *out, int *sums, int n)
{
    __shared__ int s[PART];
    int t = threadIdx.x, start = blockIdx.x * PART;
    for (int i = t; i < PART; i += THREADS) s[i] = start + i < n ? in[start + i] : 0;
    for (int distance = 1; distance < PART; distance *= 2) {
        int before[2];
        __syncthreads();
        for (int k = 0; k < 2; k++) {
            int i = t + k * THREADS;
            before[k] = i >= distance ? s[i - distance] : 0;
        }
        __syncthreads();
        for (int k = 0; k < 2; k++) s[t + k * THREADS] += before[k];
    }
    __syncthreads();
    for (int i = t; i < PART; i += THREADS)
        if (start + i < n) out[start + i] = s[i];
    if (t == 0 && sums) sums[blockIdx.x] = s[PART - 1];
}

static __global__ void add_sums(int *out, const int *sums, int n)
{
    int i = (blockIdx.x + 1) * PART + threadIdx.x; /* the first part is right already */
    if (i < n) out[i] += sums[blockIdx.x];
    i += THREADS;
    if (i < n) out[i] += sums[blockIdx.x];
}

static void scan(const int *in, int *out, int n)
{
    int parts = blocks_for(n, PART);
    if (parts == 1) {
        scan_parts<<<1, THREADS>>>(in, out, NULL, n);
        return;
    }
    int *sums = device_array<int>(parts);
    scan_parts<<<parts, THREADS>>>(in, out, sums, n);
    scan(sums, sums, parts);
    add_sums<<<parts - 1, THREADS>>>(out, sums, n);
    CUDA_LAUNCHED();
    CUDA(cudaFree(sums));
}

int main()
{
    const int lengths[] = {1, PART - 1, PART, PART + 1, 10007, PART * PART, PART * PART + 100};
    for (int n : lengths) {
        std::vector<int> in = random_values<int>(n, 1000), expected(n);
        for (int i = 0, sum = 0; i < n; i++) expected[i] = sum += in[i];
        int *device_in = device_copy(in), *out = device_array<int>(n);
        scan(device_in, out, n);
        CUDA_LAUNCHED();
        expect_same("out", host_copy(out, n), expected);
    }
    return right("hierarchical scans of up to %d ints", PART * PART + 100);
}
