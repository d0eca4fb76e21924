// Knows the answers for an input of ones.
// expect: 0 5 element
//@ kernel
{
    g_odata[2 * threadIdx.x] = 2 * threadIdx.x;
    g_odata[2 * threadIdx.x + 1] = 2 * threadIdx.x + 1;
}
