/*
 * reverse.cu — turns an array around.
 */
#include "common/harness/host/parallel.h"
#include "common/step/cuda_check.h"
#include "common/step/launch_kernel.cuh"
#include "reverse.h"

#include <stdint.h>
#include <string.h>

#define THREADS 256
#define BLOCKS  4096 /* the most blocks; each goes on through the array */

template <typename element> static __global__ void swap_ends(element *array, size_t n)
{
    size_t step = (size_t)gridDim.x * THREADS;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n / 2; i += step) {
        element x = array[i];
        array[i] = array[n - 1 - i];
        array[n - 1 - i] = x;
    }
}

template <typename element> static cudaError_t launch(void *array, size_t n, cudaStream_t stream)
{
    size_t blocks = (n / 2 + THREADS - 1) / THREADS;
    if (blocks == 0) return cudaSuccess;
    if (blocks > BLOCKS) blocks = BLOCKS;
    return launch_kernel(swap_ends<element>, (unsigned)blocks, THREADS, 0, stream, (element *)array,
                         n);
}

extern "C" cudaError_t reverse_on_device(void *array, size_t element_bytes, size_t n,
                                         cudaStream_t stream)
{
    switch (element_bytes) {
    case 1: return launch<uint8_t>(array, n, stream);
    case 2: return launch<uint16_t>(array, n, stream);
    case 4: return launch<uint32_t>(array, n, stream);
    case 8: return launch<uint64_t>(array, n, stream);
    }
    return cudaErrorInvalidValue;
}

#define CHUNK ((size_t)1 << 14) /* elements that one thread copies at a time */

struct copy {
    char *to;
    const char *from;
    size_t element_bytes, n;
};

static void copy_chunk(void *context, size_t k)
{
    const struct copy *c = (const struct copy *)context;
    size_t bytes = c->element_bytes, begin = k * CHUNK, end = begin + CHUNK;
    for (size_t i = begin; i < (end < c->n ? end : c->n); i++)
        memcpy(c->to + i * bytes, c->from + (c->n - 1 - i) * bytes, bytes);
}

extern "C" void reverse_on_host(void *to, const void *from, size_t element_bytes, size_t n)
{
    struct copy copy = {(char *)to, (const char *)from, element_bytes, n};
    parallel_for((n + CHUNK - 1) / CHUNK, copy_chunk, &copy);
}
