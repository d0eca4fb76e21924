// Right: more barriers than are needed.
// expect: 99 100 
#define __syncthreads() (__syncthreads(), __syncthreads())
//@ tree
