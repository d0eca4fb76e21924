// Changes the input, from which a grader might compute the result.
// expect: 0 99 
//@ kernel
{
    ((float *)g_idata)[2 * threadIdx.x] = ((float *)g_idata)[2 * threadIdx.x + 1] = 0;
    g_odata[2 * threadIdx.x] = g_odata[2 * threadIdx.x + 1] = 0;
}
