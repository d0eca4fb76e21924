/* race-queue.cu — blocks put work into a queue, others take it out. A word may be read when it is
 * marked as ready. It is not enough that its index has been drawn. */
#include "pair.h"

template <bool right> __global__ void work(int *items, int *ready, int *places, int *out)
{
    if (blockIdx.x % 2 == 0) {
        int place = atomicAdd(&places[0], 1);
        items[place] = blockIdx.x;
        __threadfence();
        atomicExch(&ready[place], 1);
    } else {
        int place = atomicAdd(&places[1], 1);
        if (right)
            while (!atomicAdd(&ready[place], 0)) continue;
        else
            while (atomicAdd(&places[0], 0) <= place) continue;
        __threadfence();
        out[place] = items[place];
    }
}

int main(int argc, char **argv)
{
    int *items = zeros<int>(4), *ready = zeros<int>(4), *places = zeros<int>(2),
        *out = zeros<int>(4);
    LAUNCH(work, is_right(argc, argv), 8, 1, items, ready, places, out);
    cudaDeviceSynchronize();
    cudaFree(items);
    cudaFree(ready);
    cudaFree(places);
    cudaFree(out);
}
