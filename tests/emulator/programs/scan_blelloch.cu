/* scan_blelloch.cu — the work-efficient scan: a tree of sums upwards, then the prefixes downwards,
 * in place in shared memory, with padding against bank conflicts or without. */
#include "check.cuh"

template <bool PADDED> static __device__ int place(int i) { return PADDED ? i + i / 32 : i; }

template <bool PADDED> static __global__ void scan(const int *in, int *out, int n)
{
    extern __shared__ int tree[];
    int t = threadIdx.x, stride = 1;
    tree[place<PADDED>(2 * t)] = in[2 * t];
    tree[place<PADDED>(2 * t + 1)] = in[2 * t + 1];
    for (int active = n / 2; active > 0; active /= 2, stride *= 2) {
        __syncthreads();
        if (t >= active) continue;
        int left = stride * (2 * t + 1) - 1, right = left + stride;
        tree[place<PADDED>(right)] += tree[place<PADDED>(left)];
    }
    if (t == 0) tree[place<PADDED>(n - 1)] = 0;
    for (int active = 1; active < n; active *= 2) {
        stride /= 2;
        __syncthreads();
        if (t >= active) continue;
        int left = stride * (2 * t + 1) - 1, right = left + stride;
        int sum = tree[place<PADDED>(left)];
        tree[place<PADDED>(left)] = tree[place<PADDED>(right)];
        tree[place<PADDED>(right)] += sum;
    }
    __syncthreads();
    out[2 * t] = tree[place<PADDED>(2 * t)];
    out[2 * t + 1] = tree[place<PADDED>(2 * t + 1)];
}

int main()
{
    for (int n = 2; n <= 2048; n *= 2) {
        std::vector<int> in = random_values<int>(n, 1000), expected(n);
        for (int i = 0, sum = 0; i < n; sum += in[i++]) expected[i] = sum;
        int *device_in = device_copy(in), *out = device_array<int>(n);
        scan<false><<<1, n / 2, n * sizeof(int)>>>(device_in, out, n);
        CUDA_LAUNCHED();
        expect_same("plain", host_copy(out, n), expected);
        scan<true><<<1, n / 2, (n + n / 32) * sizeof(int)>>>(device_in, out, n);
        CUDA_LAUNCHED();
        expect_same("padded", host_copy(out, n), expected);
    }
    return right("Blelloch scans of 2 to 2048 ints, plain and padded");
}
