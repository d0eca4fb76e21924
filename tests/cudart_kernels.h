/*
 * cudart_kernels.h — kernels for the tests of the runtime, and functions that launch them with <<<>>>.
 *
 * Each launch function returns what cudaGetLastError says right after the launch.
 */
#ifndef CUDART_KERNELS_H
#define CUDART_KERNELS_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes and alignments that make every gap in a parameter list. */
struct pair {
    double d;
    int i;
};

/* out[i] = i for each thread of the grid. */
cudaError_t launch_count(int *out, dim3 grid, dim3 block, size_t shared, cudaStream_t stream);

/* *out = the sum of all arguments. */
cudaError_t launch_arguments(double *out, char c, short s, struct pair p, float4 f, long long l,
                             unsigned char last);

/* Writes 1.0f to *address. */
cudaError_t launch_store(float *address);

/* Executes a trap. */
cudaError_t launch_trap(void);

/* *out = device_value; then device_value += table[0] + … + table[3]. */
cudaError_t launch_variables(int *out);

/* The host shadows of the two variables: int device_value = 5; constant int table[4]. */
const void *device_value_symbol(void);
const void *table_symbol(void);

/* Fills bytes of dynamic shared memory and sums them: *out = bytes / 4 · 1.0f. */
cudaError_t launch_shared(float *out, size_t bytes);
/* The same kernels, as cudaFuncSetAttribute and others take them. */
const void *shared_kernel(void);
const void *count_kernel(void);
const void *add_kernel(void);
const void *store_kernel(void);

/* A kernel that was compiled for blocks of 64 threads at most. */
cudaError_t launch_bounded(int *out, unsigned block);

/* cudaOccupancyMaxPotentialBlockSize, which is a C++ template, of count_kernel(). */
cudaError_t potential_block_size(int *grid, int *block);

/* *to += value, by one thread. */
cudaError_t launch_add(int *to, int value, cudaStream_t stream);

/* Two __managed__ variables: managed_value, 7 at first, and managed_array of 100 elements. The
 * kernel copies the one into the last element of the other, then adds 1 to it. */
cudaError_t launch_managed(void);
int *managed_value_address(void);
int *managed_array_address(void);
cudaError_t set_managed_value(int value); /* with cudaMemcpyToSymbol */

#ifdef __cplusplus
}
#endif

#endif
