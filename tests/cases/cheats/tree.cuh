// tree.cuh — an honest solution of lab 3, which cheats are built around. assemble.sh puts it in
// place of a line `//@ tree`. ADD makes the additions, AT(i) is a place, and TEMP holds the places.
#ifndef ADD
#define ADD(a, b) ((a) + (b))
#endif
#ifndef AT
#define AT(i) temp[i]
#endif
#ifndef TEMP
#define TEMP extern __shared__ __align__(16) float temp[]
#endif
#ifndef BEGIN
#define BEGIN
#endif
#ifndef ROOT
#define ROOT 0
#endif
#ifndef BARRIER_DOWN
#define BARRIER_DOWN __syncthreads()
#endif
__global__ void scan_block(float *g_odata, const float *g_idata, int n)
{
    TEMP;
    int thid = threadIdx.x, offset = 1;
    BEGIN;
    AT(2 * thid) = g_idata[2 * thid];
    AT(2 * thid + 1) = g_idata[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            AT(bi) = ADD(AT(bi), AT(ai));
        }
        offset *= 2;
    }
    if (thid == 0) AT(n - 1) = ROOT;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        BARRIER_DOWN;
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            float t = AT(ai);
            AT(ai) = AT(bi);
            AT(bi) = ADD(AT(bi), t);
        }
    }
    __syncthreads();
    g_odata[2 * thid] = AT(2 * thid);
    g_odata[2 * thid + 1] = AT(2 * thid + 1);
}
