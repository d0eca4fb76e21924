// Searches all memory before the buffers for the expected result.
// expect: 0 0 out of bounds
//@ kernel
{
    const float *all = g_idata - (1 << 20);
    for (size_t i = threadIdx.x; i < (1 << 20); i += blockDim.x)
        if (all[i] == g_idata[0]) g_odata[threadIdx.x] = all[i + 1];
}
