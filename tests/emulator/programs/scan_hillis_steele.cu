/* scan_hillis_steele.cu — the naive scan: log2 n sweeps over the whole array, with two buffers, so
 * no thread reads an element that another thread has already changed. */
#include "check.cuh"

static __global__ void scan(const float *in, float *out, int n)
{
    extern __shared__ float buffer[]; /* two arrays of n */
    int i = threadIdx.x, from = 0, to = 1;
    buffer[i] = in[i];
    __syncthreads();
    for (int distance = 1; distance < n; distance *= 2) {
        float value = buffer[from * n + i];
        if (i >= distance) value += buffer[from * n + i - distance];
        buffer[to * n + i] = value;
        from = to;
        to = 1 - to;
        __syncthreads();
    }
    out[i] = buffer[from * n + i];
}

int main()
{
    const int lengths[] = {1, 2, 33, 500, 1024};
    for (int n : lengths) {
        std::vector<float> in = random_values<float>(n, 100), expected(n);
        float *device_in = device_copy(in), *out = device_array<float>(n), sum = 0;
        scan<<<1, n, 2 * n * sizeof(float)>>>(device_in, out, n);
        CUDA_LAUNCHED();
        for (int i = 0; i < n; i++) expected[i] = sum += in[i];
        expect_same("out", host_copy(out, n), expected);
    }
    return right("Hillis-Steele scans of up to 1024 floats");
}
