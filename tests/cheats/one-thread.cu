// One thread does all.
// expect: 0 40 too few lanes
//@ kernel
{
    float sum = 0;
    for (int i = 0; threadIdx.x == 0 && i < n; i++) {
        g_odata[i] = sum;
        sum += g_idata[i];
    }
}
