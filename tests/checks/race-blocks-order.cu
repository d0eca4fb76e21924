/* race-blocks-order.cu — a block reads what another block writes: two launches are ordered, two
 * blocks of one are not. */
#include "pair.h"

__global__ void write(int *words) { words[blockIdx.x] = blockIdx.x; }
__global__ void take(const int *words, int *out)
{
    out[blockIdx.x] = words[(blockIdx.x + 1) % gridDim.x];
}
__global__ void both(int *words, int *out)
{
    words[blockIdx.x] = blockIdx.x;
    out[blockIdx.x] = words[(blockIdx.x + 1) % gridDim.x];
}

HOST
{
    int *words = zeros<int>(64), *out = zeros<int>(64);
    if (right) {
        write<<<64, 1>>>(words);
        take<<<64, 1>>>(words, out);
    } else {
        both<<<64, 1>>>(words, out);
    }
}
