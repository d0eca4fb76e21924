// Right, with n squared additions.
// expect: 0 50 additions
//@ kernel
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float sum = 0;
        for (int j = 0; j < i; j++) sum += g_idata[j];
        g_odata[i] = sum;
    }
}
