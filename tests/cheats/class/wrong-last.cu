// Wrong: the last element is not written.
// expect: 0 20 
//@ kernel
{
    float sum = 0;
    for (int i = 0; threadIdx.x == 0 && i < n - 1; i++) {
        g_odata[i] = sum;
        sum += g_idata[i];
    }
}
