/*
 * limits.cu — prints how much memory each device has, uses some of it, and makes allocations:
 * `limits N order|reverse|async|leak` makes N and frees them, or leaves them.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void twice(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = 2 * i;
}

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorName(error));
    exit(1);
}

static void use(int device)
{
    enum { N = 1 << 16 };
    size_t free_bytes, total;
    int *p, last;
    cudaDeviceProp properties;
    check(cudaSetDevice(device));
    check(cudaMemGetInfo(&free_bytes, &total));
    check(cudaGetDeviceProperties(&properties, device));
    check(cudaMalloc(&p, total / 2));
    twice<<<N / 256, 256>>>(p, N);
    check(cudaMemcpy(&last, p + N - 1, sizeof last, cudaMemcpyDeviceToHost));
    check(cudaFree(p));
    printf("device %d: %zu MB, %s, last value %d\n", device, total >> 20,
           properties.totalGlobalMem == total ? "as its properties say" : "its properties differ",
           last);
}

static void allocate(int n, const char *how)
{
    void **all = (void **)malloc(n * sizeof *all);
    bool is_async = !strcmp(how, "async");
    for (int i = 0; i < n; i++)
        check(is_async ? cudaMallocAsync(&all[i], 64, 0) : cudaMalloc(&all[i], 64));
    for (int i = 0; i < n && strcmp(how, "leak"); i++) {
        void *p = all[!strcmp(how, "reverse") ? n - 1 - i : i];
        check(is_async ? cudaFreeAsync(p, 0) : cudaFree(p));
    }
    free(all);
    printf("%d allocations\n", n);
}

int main(int argc, char **argv)
{
    int devices;
    check(cudaGetDeviceCount(&devices));
    for (int i = 0; i < devices; i++) use(i);
    if (argc == 3) allocate(atoi(argv[1]), argv[2]);
}
