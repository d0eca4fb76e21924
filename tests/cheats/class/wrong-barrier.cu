// Wrong: one of the barriers is missing.
// expect: 0 95 
//@ kernel
{
    extern __shared__ __align__(16) float temp[];
    int thid = threadIdx.x, offset = 1;
    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) temp[offset * (2 * thid + 2) - 1] += temp[offset * (2 * thid + 1) - 1];
        offset *= 2;
    }
    if (thid == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        if (thid >= d) continue;
        float t = temp[offset * (2 * thid + 1) - 1];
        temp[offset * (2 * thid + 1) - 1] = temp[offset * (2 * thid + 2) - 1];
        temp[offset * (2 * thid + 2) - 1] += t;
    }
    __syncthreads();
    g_odata[2 * thid] = temp[2 * thid];
    g_odata[2 * thid + 1] = temp[2 * thid + 1];
}
