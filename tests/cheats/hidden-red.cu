// Adds by reductions in global memory.
// expect: 0 25 add.f32
//@ kernel
{
    int i = threadIdx.x;
    g_odata[2 * i] = g_odata[2 * i + 1] = 0;
    __syncthreads();
    for (int k = 0; k < 2; k++)
        for (int j = 2 * i + k + 1; j < n; j++) atomicAdd(&g_odata[j], g_idata[2 * i + k]);
}
