// shuffles.cuh — a scan by warp shuffles. assemble.sh puts it in place of a line `//@ shuffles`.
#ifndef BEGIN
#define BEGIN
#endif
__global__ void scan_block(float *g_odata, const float *g_idata, int n)
{
    __shared__ float sums[32];
    BEGIN;
    int i = threadIdx.x, lane = i % 32, warp = i / 32, warps = (blockDim.x + 31) / 32;
    unsigned mask = blockDim.x < 32 ? (1u << blockDim.x) - 1 : 0xffffffff;
    float a = g_idata[2 * i], b = g_idata[2 * i + 1], sum = a + b;
    for (int d = 1; d < 32; d *= 2) {
        float left = __shfl_up_sync(mask, sum, d);
        if (lane >= d) sum += left;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        float all = lane < warps - 1 ? sums[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            float left = __shfl_up_sync(mask, all, d);
            if (lane >= d) all += left;
        }
        if (lane < warps - 1) sums[lane] = all;
    }
    __syncthreads();
    float before = warp > 0 ? sums[warp - 1] : 0;
    float left = __shfl_up_sync(mask, sum, 1);
    if (lane > 0) before += left;
    g_odata[2 * i] = before;
    g_odata[2 * i + 1] = before + a;
}
