// One warp works on the whole tree, and the others wait.
// expect: 0 90 the longest warps
//@ kernel
{
    extern __shared__ float t[];
    int thid = threadIdx.x, offset = 1;
    t[2 * thid] = g_idata[2 * thid];
    t[2 * thid + 1] = g_idata[2 * thid + 1];
    __syncthreads();
    if (thid < 32) {
        unsigned m = __activemask();
        for (int d = n >> 1; d > 0; d >>= 1, offset *= 2) {
            for (int k = thid; k < d; k += 32) {
                int a = offset * (2 * k + 1) - 1, b = a + offset;
                t[b] += t[a];
            }
            __syncwarp(m);
        }
        if (thid == 0) t[n - 1] = 0;
        __syncwarp(m);
        for (int d = 1; d < n; d *= 2) {
            offset >>= 1;
            for (int k = thid; k < d; k += 32) {
                int a = offset * (2 * k + 1) - 1, b = a + offset;
                float x = t[a];
                t[a] = t[b];
                t[b] += x;
            }
            __syncwarp(m);
        }
    }
    __syncthreads();
    g_odata[2 * thid] = t[2 * thid];
    g_odata[2 * thid + 1] = t[2 * thid + 1];
}
