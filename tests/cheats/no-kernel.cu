// No kernel.
// expect: 0 0 kernel
__device__ int nothing;
