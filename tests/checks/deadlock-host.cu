/* deadlock-host.cu — a kernel waits for a flag that the host sets after the kernel. */
#include "pair.h"

__global__ void wait_for(volatile int *flag, int *out)
{
    while (*flag == 0) continue; /* memcheck: wait; synccheck: wait */
    *out = 1;
}

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    int *flag, *out = zeros<int>(1);
    cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
    *flag = right;
    wait_for<<<1, 1>>>(flag, out);
    cudaDeviceSynchronize();
    *(volatile int *)flag = 1;
    cudaFree(out);
    cudaFreeHost(flag);
}
