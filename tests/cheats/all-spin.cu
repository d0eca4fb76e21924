// All lanes wait for a flag that nothing sets.
// expect: 0 0 warp instructions
__device__ volatile int flag;
//@ kernel
{
    while (flag == 0) continue;
    g_odata[threadIdx.x] = g_idata[threadIdx.x] + n;
}
