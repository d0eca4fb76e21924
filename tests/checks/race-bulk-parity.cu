/* race-bulk-parity.cu — a thread that waits for a bulk copy by the wrong parity does not wait: the
 * phase before the first one counts as over. */
#include "bulk.h"

#define READERS 96

template <bool right> __global__ void copy(int *out, const int *in)
{
    __shared__ __align__(16) int words[READERS];
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_init_done();
    }
    __syncthreads();
    if (threadIdx.x >= 32) {
        barrier_wait(&full, right ? 0 : 1);
        out[threadIdx.x - 32] = words[threadIdx.x - 32];
    } else if (threadIdx.x == 0) {
        barrier_arrive_expect(&full, sizeof words);
        bulk_load(words, in, sizeof words, &full);
        barrier_wait(&full, 0);
        if (!right) barrier_arrive(&full); // late threads must not wait for ever
    }
}

PAIR(copy<right>, 1, 128, zeros<int>(READERS), zeros<int>(READERS))
