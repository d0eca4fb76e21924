/*
 * cudart_kernels.cu — see cudart_kernels.h.
 */
#include "cudart_kernels.h"

static __global__ void count(int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}

static __global__ void arguments(double *out, char c, short s, struct pair p, float4 f, long long l,
                                 unsigned char last)
{
    *out = c + s + p.d + p.i + f.x + f.y + f.z + f.w + l + last;
}

static __global__ void store(float *address) { *address = 1.0f; }

static __global__ void stop() { __trap(); }

__device__ int device_value = 5;
__constant__ int table[4];

static __global__ void variables(int *out)
{
    *out = device_value;
    device_value += table[0] + table[1] + table[2] + table[3];
}

static __global__ void shared(float *out, unsigned words)
{
    extern __shared__ float memory[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) memory[i] = 1.0f;
    __syncthreads();
    if (threadIdx.x > 0) return;
    float sum = 0;
    for (unsigned i = 0; i < words; i++) sum += memory[i];
    *out = sum;
}

static __global__ void __launch_bounds__(64) bounded(int *out) { out[threadIdx.x] = threadIdx.x; }

static __global__ void add(int *to, int value) { *to += value; }

__managed__ int managed_value = 7;
__managed__ int managed_array[100];

static __global__ void managed(void) { managed_array[99] = managed_value++; }

cudaError_t launch_count(int *out, dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    count<<<grid, block, shared, stream>>>(out);
    return cudaGetLastError();
}

cudaError_t launch_arguments(double *out, char c, short s, struct pair p, float4 f, long long l,
                             unsigned char last)
{
    arguments<<<1, 1>>>(out, c, s, p, f, l, last);
    return cudaGetLastError();
}

cudaError_t launch_store(float *address)
{
    store<<<1, 1>>>(address);
    return cudaGetLastError();
}

cudaError_t launch_trap(void)
{
    stop<<<1, 1>>>();
    return cudaGetLastError();
}

cudaError_t launch_variables(int *out)
{
    variables<<<1, 1>>>(out);
    return cudaGetLastError();
}

const void *device_value_symbol(void) { return &device_value; }
const void *table_symbol(void) { return table; }

cudaError_t launch_shared(float *out, size_t bytes)
{
    shared<<<1, 256, bytes>>>(out, (unsigned)(bytes / sizeof(float)));
    return cudaGetLastError();
}

const void *shared_kernel(void) { return (const void *)shared; }
const void *count_kernel(void) { return (const void *)count; }
const void *add_kernel(void) { return (const void *)add; }
const void *store_kernel(void) { return (const void *)store; }

cudaError_t launch_bounded(int *out, unsigned block)
{
    bounded<<<1, block>>>(out);
    return cudaGetLastError();
}

cudaError_t potential_block_size(int *grid, int *block)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, block, count);
}

cudaError_t launch_add(int *to, int value, cudaStream_t stream)
{
    add<<<1, 1, 0, stream>>>(to, value);
    return cudaGetLastError();
}

cudaError_t launch_managed(void)
{
    managed<<<1, 1>>>();
    return cudaGetLastError();
}

int *managed_value_address(void) { return &managed_value; }
int *managed_array_address(void) { return managed_array; }

cudaError_t set_managed_value(int value)
{
    return cudaMemcpyToSymbol(managed_value, &value, sizeof value);
}
