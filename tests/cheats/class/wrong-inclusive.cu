// Wrong: an inclusive scan.
// expect: 0 30 
//@ kernel
{
    extern __shared__ __align__(16) float temp[];
    int i = threadIdx.x, j = i + n / 2;
    float x = g_idata[i], y = g_idata[j];
    for (int d = 1; d < n; d *= 2) {
        temp[i] = x, temp[j] = y;
        __syncthreads();
        x += i >= d ? temp[i - d] : 0, y += j >= d ? temp[j - d] : 0;
        __syncthreads();
    }
    g_odata[i] = x, g_odata[j] = y;
}
