/* race-blocks-neighbour.cu — each thread adds its right neighbour's word. The last one of a block
 * reads what the next block stores. */
#include "pair.h"

template <bool right> __global__ void add(int *data, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    (right ? out : data)[i] = data[i] + data[i + 1]; /* racecheck: second launch */
}

PAIR(add<right>, 4, 256, numbers<int>(1025), zeros<int>(1024))
