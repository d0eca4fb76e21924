/*
 * device_code.cu — what nvcc does not inline: recursion, calls by pointer, virtual functions, structures
 * passed by value, printf and assert.
 */
#include "device_code.h"

#include <cassert>
#include <cstdio>

static __device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

typedef int (*function)(int);
static __device__ int next(int x) { return x + 1; }
static __device__ int twice(int x) { return 2 * x; }
static __device__ int square(int x) { return x * x; }
static __device__ function functions[3] = {next, twice, square};

static __global__ void pointers(int *out)
{
    int t = threadIdx.x;
    out[t] = functions[t % 3](t);
}

struct shape {
    __device__ virtual int of(int x) const = 0;
};
struct triple : shape {
    __device__ int of(int x) const override { return 3 * x; }
};
struct rest : shape {
    int whole;
    __device__ rest(int whole) : whole(whole) {}
    __device__ int of(int x) const override { return whole - x; }
};

static __global__ void virtual_functions(int *out)
{
    triple a;
    rest b(100);
    const shape *chosen = threadIdx.x % 2 ? (const shape *)&b : (const shape *)&a;
    out[threadIdx.x] = chosen->of(threadIdx.x);
}

struct six {
    int value[6];
};

/* An index that is not known keeps the array in local memory. */
static __device__ __noinline__ six replaced(six all, int index, int value)
{
    all.value[index] = value;
    return all;
}

static __global__ void structures(int *out)
{
    six all = {{1, 1, 1, 1, 1, 1}};
    int t = threadIdx.x, sum = 0;
    all = replaced(all, t % 6, 10 * t + 1);
    for (int i = 0; i < 6; i++) sum += all.value[i];
    out[t] = sum;
}

static __device__ __noinline__ int exchange(int *shared, int value)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    return shared[(threadIdx.x + 1) % blockDim.x];
}

static __global__ void barrier_in_function(int *out)
{
    __shared__ int shared[1024];
    out[threadIdx.x] = exchange(shared, threadIdx.x);
}

static __global__ void deep_recursion(int *out, int n) { out[threadIdx.x] = fibonacci(n); }

static __global__ void printing(void)
{
    int t = threadIdx.x, arguments = 0;
    if (t % 2 == 0)
        arguments = printf("%d %5.2f|%-4d|%s|%c|%llu|%x|%%|%*d\n", t, t * 0.25, t, "text", 'a' + t,
                           1ull << 40, 255, 4, t);
    if (t == 4) printf("%d arguments\n", arguments);
}

static __global__ void assertion(int wrong) { assert((int)threadIdx.x != wrong); }

cudaError_t launch_recursion(int *out, int threads)
{
    recursion<<<1, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_pointers(int *out, int threads)
{
    pointers<<<1, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_virtual(int *out, int threads)
{
    virtual_functions<<<1, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_structures(int *out, int threads)
{
    structures<<<1, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_barrier_in_function(int *out, int threads)
{
    barrier_in_function<<<1, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_deep_recursion(int *out, int depth)
{
    deep_recursion<<<1, 1>>>(out, depth);
    return cudaGetLastError();
}
cudaError_t launch_printing(int threads)
{
    printing<<<1, threads>>>();
    return cudaGetLastError();
}
cudaError_t launch_assertion(int threads, int wrong)
{
    assertion<<<1, threads>>>(wrong);
    return cudaGetLastError();
}
