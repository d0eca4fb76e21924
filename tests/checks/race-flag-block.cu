/* race-flag-block.cu — thread 0 sets the flag for its block. A barrier must lie between the
 * other threads' stores and its fence. */
#include "pair.h"

template <bool right> __global__ void hand_over(volatile int *flag, int *values, int *out)
{
    if (blockIdx.x == 0) {
        values[threadIdx.x] = threadIdx.x;
        if (right) __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (threadIdx.x == 0) {
            while (*flag == 0) continue;
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = values[127 - threadIdx.x];
    }
}

int main(int argc, char **argv)
{
    int *flag = zeros<int>(1), *values = zeros<int>(128), *out = zeros<int>(128);
    LAUNCH(hand_over, is_right(argc, argv), 2, 128, flag, values, out);
    cudaDeviceSynchronize();
    cudaFree(flag);
    cudaFree(values);
    cudaFree(out);
}
