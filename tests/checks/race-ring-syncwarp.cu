/* race-ring-syncwarp.cu — a ring of two stages: one warp fills them and says which tile each holds,
 * the others read. One lane releases a stage for its warp, after all its lanes have read. */
#include "bulk.h"

template <bool right> __global__ void ring(const int *in, int *out)
{
    enum { STAGES = 2, TILES = 8, READERS = 7, THREADS = 32 * (READERS + 1) };
    __shared__ __align__(16) int words[STAGES][32];
    __shared__ int tile_of[STAGES];
    __shared__ barrier full[STAGES], empty[STAGES];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    make_barriers(full, STAGES, 1);
    make_barriers(empty, STAGES, READERS);
    for (int tile = 0; tile < TILES; tile++) {
        int stage = tile % STAGES, parity = tile / STAGES % 2;
        if (warp == READERS) {
            barrier_wait(&empty[stage], !parity);
            if (lane == 0) {
                tile_of[stage] = tile; /* racecheck: WAR hazard at __shared__ */
                barrier_arrive_expect(&full[stage], sizeof words[stage]);
                bulk_load(words[stage], in + tile * 32, sizeof words[stage], &full[stage]);
            }
        } else {
            barrier_wait(&full[stage], parity);
            __syncwarp(); /* the stage is not released while lanes still wait for it */
            out[tile_of[stage] * THREADS + threadIdx.x] = words[stage][lane];
            if (right) __syncwarp();
            if (lane == 0) barrier_arrive(&empty[stage]);
        }
    }
}

PAIR(ring<right>, 1, 256, numbers<int>(8 * 32), zeros<int>(8 * 256))
