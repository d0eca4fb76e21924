// Right in the usual order of warps, by luck: a barrier is missing.
// expect: 0 50 the error that the checkers report
#define __syncthreads() __syncwarp()
//@ tree
