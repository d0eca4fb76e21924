// Wrong: zeros.
// expect: 0 0 zeros
//@ kernel
{
    g_odata[2 * threadIdx.x] = g_odata[2 * threadIdx.x + 1] = g_idata[0] * 0 * n;
}
