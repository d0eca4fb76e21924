/* race-slot-reuse.cu — one block passes values to another through one slot. Before it stores the
 * next value it must wait until the last one has been read. */
#include "pair.h"

template <bool right>
__global__ void hand_on(int *slot, volatile int *full, volatile int *read, int *out)
{
    for (int i = 1; i <= 4; i++)
        if (blockIdx.x == 0) {
            while (right && *read < i - 1) continue;
            __threadfence();
            *slot = i;
            __threadfence();
            *full = i;
        } else {
            while (*full < i) continue;
            __threadfence();
            out[i - 1] = *slot;
            __threadfence();
            *read = i;
        }
}

int main(int argc, char **argv)
{
    int *slot = zeros<int>(1), *full = zeros<int>(1), *read = zeros<int>(1), *out = zeros<int>(4);
    LAUNCH(hand_on, is_right(argc, argv), 2, 1, slot, full, read, out);
    cudaDeviceSynchronize();
    cudaFree(slot);
    cudaFree(full);
    cudaFree(read);
    cudaFree(out);
}
