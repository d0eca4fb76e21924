/* race-ring.cu — one warp copies to a ring of stages, the others read them: a stage may be released
 * only after it has been read. */
#include "bulk.h"

#define STAGES  2
#define READERS 3 /* warps */

template <bool right> __global__ void sum_tiles(int *out, const int *in, int tiles)
{
    __shared__ __align__(16) int words[STAGES][32];
    __shared__ barrier full[STAGES], empty[STAGES];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], READERS);
        }
        barrier_init_done();
    }
    __syncthreads();
    for (int tile = 0; tile < tiles; tile++) {
        int stage = tile % STAGES, parity = tile / STAGES % 2;
        if (warp == READERS) {
            barrier_wait(&empty[stage], !parity); // at first, stages are empty
            if (lane == 0) {
                barrier_arrive_expect(&full[stage], sizeof words[stage]);
                bulk_load(words[stage], in + tile * 32, sizeof words[stage], &full[stage]);
            }
        } else {
            barrier_wait(&full[stage], parity);
            if (!right && lane == 0) barrier_arrive(&empty[stage]);
            /* racecheck: WAR hazard at __shared__ */
            sum += words[stage][lane];
            __syncwarp();
            if (right && lane == 0) barrier_arrive(&empty[stage]);
        }
    }
    out[threadIdx.x] = sum;
}

PAIR(sum_tiles<right>, 1, 128, zeros<int>(128), zeros<int>(16 * 32), 16)
