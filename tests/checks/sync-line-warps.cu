/* sync-line-warps.cu — warps reach two barriers of one line. */
#include "one_line.cuh"

__global__ void store(int *out, int size)
{
    /* synccheck: Divergent thread(s) in block */
    STORE_IN_ARMS(threadIdx.x / size % 2);
}

PAIR(store, 1, 64, zeros<int>(64), right ? 64 : 32)
