// Adds by bulk reductions in global memory.
// expect: 0 62 bulk
//@ kernel
{
    extern __shared__ __align__(16) float temp[];
    int i = threadIdx.x, j = i + n / 2;
    float x = i > 0 ? g_idata[i - 1] : 0, y = g_idata[j - 1];
    for (int d = 1; d < 4 && d < n; d *= 2) {
        temp[i] = x, temp[j] = y;
        __syncthreads();
        x += i >= d ? temp[i - d] : 0, y += temp[j - d];
        __syncthreads();
    }
    g_odata[i] = x, g_odata[j] = y;
    for (int d = 4; d < n; d *= 2) {
        __syncthreads();
        temp[i] = g_odata[i], temp[j] = g_odata[j];
        asm volatile("fence.proxy.async;");
        __syncthreads();
        if (i == 0) {
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
                         "[%0], [%1], %2;"
                         :: "l"(g_odata + d), "r"((unsigned)__cvta_generic_to_shared(temp)),
                            "r"((n - d) * 4) : "memory");
            asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
        }
    }
}
