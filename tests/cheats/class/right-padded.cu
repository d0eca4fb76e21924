// Right: step 4's padding, as far as there is room.
// expect: 99 100 
#define AT(i) temp[(i) ^ ((i) >> 5 & 31)]
//@ kernel
{
    extern __shared__ __align__(16) float temp[];
    int thid = threadIdx.x, offset = 1;
    AT(2 * thid) = g_idata[2 * thid];
    AT(2 * thid + 1) = g_idata[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) AT(offset * (2 * thid + 2) - 1) += AT(offset * (2 * thid + 1) - 1);
        offset *= 2;
    }
    if (thid == 0) AT(n - 1) = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid >= d) continue;
        float t = AT(offset * (2 * thid + 1) - 1);
        AT(offset * (2 * thid + 1) - 1) = AT(offset * (2 * thid + 2) - 1);
        AT(offset * (2 * thid + 2) - 1) += t;
    }
    __syncthreads();
    g_odata[2 * thid] = AT(2 * thid);
    g_odata[2 * thid + 1] = AT(2 * thid + 1);
}
