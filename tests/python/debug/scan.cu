// scan.cu — kernels that the tests of emu debug look into: a scan that lacks a barrier, one that
// stores out of bounds, and one that does not end.
#include <cstdio>
#include <cstring>

struct pair {
    int first;
    float second[2];
    const struct pair *next;
};
__constant__ float factor = 2;
__device__ int grid[2][3] = {{0, 1, 2}, {3, 4, 5}};
__device__ __noinline__ float sum(float a, float b)
{
    float both = a + b;
    return both;
}

__global__ void scan(float *out, const float *in, int n, struct pair given)
{
    __shared__ float temp[64];
    int t = threadIdx.x;
    temp[t] = in[t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        float left = t >= d ? temp[t - d] : 0;
        temp[t] = sum(temp[t], left);
        __syncthreads();
    }
    given.first += t;
    out[blockIdx.x * n + t] = temp[t] * factor + given.second[1];
}

__global__ void scatter(int *a, int stride)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    a[i] = 1;
    atomicAdd(&grid[0][0], 1); atomicMax(&grid[1][0], 3 + threadIdx.x / 8 % 2);
    __syncwarp();
}

__global__ void spin(volatile int *flag)
{
    for (int k = 0; *flag != 2; k++) *flag = k & 1;
}

int main(int argc, char **argv)
{
    float *in, *out, host[128];
    for (int i = 0; i < 128; i++) host[i] = 1;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    const struct pair given = {7, {0.5f, 0.25f}, NULL};
    scan<<<2, 64>>>(out, in, 64, given);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g\n", host[63]);
    scatter<<<2, 32>>>((int *)out, argc > 1 && !strcmp(argv[1], "wide") ? 9 : 1);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    if (argc > 1 && !strcmp(argv[1], "spin")) spin<<<1, 32>>>((int *)out);
    cudaDeviceSynchronize();
    return 3;
}
