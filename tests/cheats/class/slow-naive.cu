// Right, with n log n additions: step 2's scan.
// expect: 20 90 additions
//@ kernel
{
    extern __shared__ __align__(16) float temp[];
    int i = threadIdx.x, j = i + n / 2;
    float x = i > 0 ? g_idata[i - 1] : 0, y = g_idata[j - 1];
    for (int d = 1; d < n; d *= 2) {
        temp[i] = x, temp[j] = y;
        __syncthreads();
        x += i >= d ? temp[i - d] : 0, y += j >= d ? temp[j - d] : 0;
        __syncthreads();
    }
    g_odata[i] = x, g_odata[j] = y;
}
