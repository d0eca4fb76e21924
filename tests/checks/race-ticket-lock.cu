/* race-ticket-lock.cu — a lock by tickets. The block with the current number may enter. A fence
 * must order its accesses to the data. */
#include "pair.h"

template <bool right> __global__ void count(int *next, volatile int *shown, int *counter)
{
    int mine = atomicAdd(next, 1);
    while (*shown != mine) continue;
    if (right) __threadfence();
    *counter += 1;
    if (right) __threadfence();
    *shown = *shown + 1;
}

int main(int argc, char **argv)
{
    int *next = zeros<int>(1), *shown = zeros<int>(1), *counter = zeros<int>(1);
    LAUNCH(count, is_right(argc, argv), 8, 1, next, shown, counter);
    cudaDeviceSynchronize();
    cudaFree(next);
    cudaFree(shown);
    cudaFree(counter);
}
