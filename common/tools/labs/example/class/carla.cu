// Lab 3, where one thread does all.
__global__ void scan_block(float *g_odata, const float *g_idata, int n)
{
    float sum = 0;
    for (int i = 0; threadIdx.x == 0 && i < n; i++) {
        g_odata[i] = sum;
        sum += g_idata[i];
    }
}
