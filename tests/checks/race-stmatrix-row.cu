/* race-stmatrix-row.cu — a lane gives the address of a row to stmatrix, and then reads this row.
 * But the elements come from the registers of other lanes. */
#include "matrix.cuh"

template <bool right> __global__ void store(int *out)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4] = {threadIdx.x, threadIdx.x + 1, threadIdx.x + 2, threadIdx.x + 3};
    STORE_MATRICES(&tile[own_row()], a);
    if (right) __syncwarp();
    /* racecheck: Race reported */
    ((uint4 *)out)[threadIdx.x] = *(const uint4 *)&tile[own_row()];
}

PAIR(store<right>, 1, 32, zeros<int>(128))
