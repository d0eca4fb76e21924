/* sync-barrier-object.cu — an asynchronous barrier is initialised before it is used. */
#include "pair.h"

template <bool right> __global__ void meet(int *out)
{
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (!right) barrier = 0;
    if (right && threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at));
    __syncthreads();
    /* synccheck, memcheck: holds no mbarrier */
    asm volatile("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0]; }" ::"r"(at));
    out[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    LAUNCH(meet, is_right(argc, argv), 1, 64, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
