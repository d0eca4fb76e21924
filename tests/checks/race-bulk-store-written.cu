/* race-bulk-store-written.cu — two bulk copies to global memory. The first has read its source
 * before that is written again; its target may be read only when the copy is over. */
#include "bulk.h"

template <bool right> __global__ void send(int *data, int *out)
{
    __shared__ __align__(16) int words[256];
    words[threadIdx.x] = data[threadIdx.x];
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out, words, sizeof words);
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
    words[threadIdx.x] = 0;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out + 256, words, sizeof words);
        if (right) bulk_wait<1>();
    }
    __syncthreads();
    /* racecheck: RAW hazard at __global__; racecheck: No wait for that copy */
    data[threadIdx.x] = out[threadIdx.x];
}

PAIR(send<right>, 1, 256, numbers<int>(256), zeros<int>(512))
