/* memory-bulk.cu — a bulk copy takes a whole tile from an array that ends before. */
#include "bulk.h"

__global__ void copy(const int *in, int *out, int n)
{
    __shared__ __align__(16) int words[128];
    __shared__ barrier full;
    words[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_init_done();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.async;" ::: "memory");
        barrier_arrive_expect(&full, n * sizeof(int));
        /* memcheck: a bulk copy of 512 bytes in barrier.cuh */
        bulk_load(words, in, n * sizeof(int), &full);
    }
    barrier_wait(&full, 0);
    out[threadIdx.x] = words[threadIdx.x];
}

PAIR(copy, 1, 128, zeros<int>(100), zeros<int>(128), right ? 100 : 128)
