/*
 * kernels.cu — a program as a reader might write one, for the tests of the command emu and of
 * fatbin.c. Two launches; the first has bank conflicts that can be counted by hand.
 *
 * usage: kernels [exit code]
 */
#include <cstdio>
#include <cstdlib>

static const int WARP = 32;

/* One block of one warp. The load has a stride of two words: lanes n and n + 16 meet in a bank, so
 * it takes two wavefronts, one more than the ideal. The stores take one each. */
static __global__ void strided(float *out)
{
    __shared__ volatile float words[2 * WARP];
    words[threadIdx.x] = threadIdx.x;
    words[threadIdx.x + WARP] = threadIdx.x + WARP;
    __syncthreads();
    out[threadIdx.x] = words[2 * threadIdx.x];
}

template <typename T> __global__ void twice(T *values)
{
    values[threadIdx.x] += values[threadIdx.x];
}

int main(int argc, char **argv)
{
    float *device, host[WARP] = {0};
    cudaMalloc((void **)&device, sizeof host);
    strided<<<1, WARP>>>(device);
    twice<float><<<1, WARP>>>(device);
    cudaError_t error = cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(device);
    if (error != cudaSuccess) {
        fprintf(stderr, "kernels: %s\n", cudaGetErrorString(error));
        return 99;
    }
    printf("last value %g\n", host[WARP - 1]);
    return argc > 1 ? atoi(argv[1]) : 0;
}
