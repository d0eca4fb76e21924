// The lecture, "Broadcast": the parameters have no types, and the caller passes one.
__device__ __bfind(&b, i) { asm volatile("bfind.u32 %0, %1;" : "=r"(b) : "r"(i)); }
__global__ void last(int *x, unsigned vote)
{
    if (vote) *x = __shfl_sync(0xffffffff, *x, __bfind(vote));
}
