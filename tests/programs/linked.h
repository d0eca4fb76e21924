/* linked.h — what linked.cu and linked_part.cu have of each other (nvcc -rdc=true). */
#ifndef LINKED_H
#define LINKED_H

extern __device__ int counter;
extern __constant__ int table[4];
__device__ int outer(int x);
typedef int (*function)(int);
extern __device__ function chosen;

struct shape {
    int k;
    __device__ shape(int k) : k(k) {}
    __device__ virtual int of(int x) const;
};
struct other : shape {
    __device__ other(int k) : shape(k) {}
    __device__ int of(int x) const override;
};

/* Both objects have this kernel, and its variable: one of each is left. */
template <class T> __device__ T held = 5;
template <class T> __global__ void both(T *out)
{
    __shared__ T shared[32];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = shared[threadIdx.x ^ 1] + held<T> - 5;
}
void launch_both(int *out);

#endif
