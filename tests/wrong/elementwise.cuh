/*
 * elementwise.cuh — the parts of most wrong scans: the right sum, slow and simple, and macros that
 * define a kernel and the function that launches it.
 */
#ifndef ELEMENTWISE_CUH
#define ELEMENTWISE_CUH

#include "common/step/cuda_check.h"
#include "scans.h"

/* in[first] + … + in[end-1] */
static __device__ float sum_between(const float *in, size_t first, size_t end)
{
    float sum = 0;
    for (size_t j = first; j < end; j++) sum += in[j];
    return sum;
}

static __device__ size_t index_of_thread(void)
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Block k takes the elements from k * WRONG_BLOCK on. */
#define BLOCK_START(i) ((i) / WRONG_BLOCK * WRONG_BLOCK)
#define IN_BLOCK(i, k) ((i) / WRONG_BLOCK == (k))
#define BLOCKS(n)      (((n) + WRONG_BLOCK - 1) / WRONG_BLOCK)

/* Defines the scan `name`, whose element i (of n) is computed by `body` from in, i and n, and
 * stored by a thread of its own. */
#define ELEMENTWISE(name, body) TYPED(name, float, float, body)

/* The same for elements of one type and sums of another. */
#define TYPED(name, element, sum, body)                                                            \
    static __global__ void name##_kernel(sum *out, const element *in, size_t n)                    \
    {                                                                                              \
        size_t i = index_of_thread();                                                              \
        if (i < n) out[i] = (body);                                                                \
    }                                                                                              \
    TYPED_SCAN(name, element, sum, BLOCKS(n), WRONG_BLOCK)

/* Defines the scan `name` as one launch of name_kernel. */
#define SCAN(name, blocks, threads) TYPED_SCAN(name, float, float, blocks, threads)

#define TYPED_SCAN(name, element, sum, blocks, threads)                                            \
    extern "C" cudaError_t name(void *out, const void *in, size_t n, int variant, void *workspace, \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        (void)variant, (void)workspace;                                                            \
        name##_kernel<<<(unsigned)(blocks), (unsigned)(threads), 0, stream>>>(                     \
            (sum *)out, (const element *)in, n);                                                   \
        return cudaGetLastError();                                                                 \
    }

#endif
