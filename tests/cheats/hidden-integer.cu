// Adds integers, which also count indices.
// expect: 0 60 vanish in sums
__device__ int integers(int a, int b) { return a + b; }
#define ADD(a, b) (integers((int)((a) * 8), (int)((b) * 8)) / 8.0f)
//@ tree
