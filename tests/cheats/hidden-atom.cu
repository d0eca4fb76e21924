// Adds by atomic operations on shared memory.
// expect: 0 45 atom.shared.add.f32
//@ kernel
{
    extern __shared__ float temp[];
    int i = threadIdx.x;
    float own[2] = {g_idata[2 * i], g_idata[2 * i + 1]};
    temp[2 * i] = temp[2 * i + 1] = 0;
    __syncthreads();
    for (int k = 0; k < 2; k++)
        for (int j = 2 * i + k + 1; j < n; j++) atomicAdd(&temp[j], own[k]);
    __syncthreads();
    g_odata[2 * i] = temp[2 * i];
    g_odata[2 * i + 1] = temp[2 * i + 1];
}
