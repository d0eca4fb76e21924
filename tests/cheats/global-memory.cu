// Keeps all in global memory, where there are no bank conflicts.
// expect: 0 65 without shared memory
//@ kernel
{
    int thid = threadIdx.x, offset = 1;
    volatile float *temp = g_odata;
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
        __syncthreads();
        if (thid >= d) continue;
        float t = temp[offset * (2 * thid + 1) - 1];
        temp[offset * (2 * thid + 1) - 1] = temp[offset * (2 * thid + 2) - 1];
        temp[offset * (2 * thid + 2) - 1] += t;
    }
}
