/* api-block-depth.cu — a block has at most 64 threads in z, although it may have 1024 in x and
 * y. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x + threadIdx.z] = 1; }

HOST
{
    int *out = zeros<int>(128);
    dim3 threads = right ? dim3(128) : dim3(1, 1, 128);
    fill<<<1, threads>>>(out); /* memcheck: cudaErrorInvalid */
}
