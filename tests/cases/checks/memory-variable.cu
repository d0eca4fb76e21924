/* memory-variable.cu — a pair of its own: compute-sanitizer knows no bounds between the __device__
 * arrays of a program. pair.h says how a pair is written. */
#include "pair.h"

__device__ int table[64];

/* memory-variable — an index leads beyond a __device__ array. */
__global__ void memory_variable(int *out, int first)
{
    out[threadIdx.x] = table[first + threadIdx.x]; /* memcheck: Invalid __global__ read */
}
PAIR(memory_variable, 1, 64, zeros<int>(64), right ? 0 : 1)
