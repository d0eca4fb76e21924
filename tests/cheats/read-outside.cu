// Searches the memory behind the buffers for the expected result.
// expect: 0 0 out of bounds
//@ kernel
{
    g_odata[2 * threadIdx.x] = g_odata[n + 64 + 2 * threadIdx.x];
    g_odata[2 * threadIdx.x + 1] = g_odata[n + 64 + 2 * threadIdx.x + 1];
}
