// Calls a function at an address of its own.
// expect: 0 0 where no function is
typedef float wild(float);
__device__ wild *volatile target = (wild *)0x1234567;
//@ kernel
{ g_odata[threadIdx.x] = target(g_idata[0]) + n; }
