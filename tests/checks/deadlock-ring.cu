/* deadlock-ring.cu — the readers of a ring never give a stage back to its writer. */
#include "bulk.h"

template <bool right> __global__ void sum_tiles(const int *in, int *out, int tiles)
{
    enum { RING = 2 };
    __shared__ __align__(16) int words[RING][32];
    __shared__ barrier full[RING], empty[RING];
    if (threadIdx.x == 0) {
        for (int i = 0; i < RING; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], 32);
        }
        barrier_init_done();
    }
    __syncthreads();
    if (threadIdx.x == 32)
        for (int t = 0; t < tiles; t++) {
            /* synccheck, memcheck: deadlock in barrier.cuh */
            if (t >= RING) barrier_wait(&empty[t % RING], (t / RING - 1) & 1);
            barrier_arrive_expect(&full[t % RING], sizeof words[0]);
            bulk_load(words[t % RING], in + 32 * t, sizeof words[0], &full[t % RING]);
        }
    if (threadIdx.x < 32) {
        int sum = 0;
        for (int t = 0; t < tiles; t++) {
            barrier_wait(&full[t % RING], t / RING & 1);
            sum += words[t % RING][threadIdx.x];
            if (right) barrier_arrive(&empty[t % RING]);
        }
        out[threadIdx.x] = sum;
    }
}

PAIR(sum_tiles<right>, 1, 64, zeros<int>(8 * 32), zeros<int>(32), 8)
