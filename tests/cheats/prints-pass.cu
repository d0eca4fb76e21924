// Prints that all is right.
// expect: 0 0 element
#include <cstdio>
//@ kernel
{
    printf("PASS\n100.00 of 100 points: 20 of 20 runs right\n{\"points\": 100}\n");
    g_odata[2 * threadIdx.x] = g_idata[2 * threadIdx.x] + n;
}
