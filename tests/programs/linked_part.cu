/* linked_part.cu — the other half of linked.cu. */
#include "linked.h"

__device__ int counter = 7;
__constant__ int table[4] = {10, 20, 30, 40};
static __device__ int hidden = 2000;
static __device__ __noinline__ int local(int x) { return x * hidden; }
__device__ int outer(int x) { return local(x) + 1; }
static __device__ int add_nine(int x) { return x + 9; }
__device__ function chosen = add_nine;
__device__ int shape::of(int x) const { return k + x; }
__device__ int other::of(int x) const { return k * x; }
void launch_both(int *out) { both<int><<<1, 32>>>(out); }
