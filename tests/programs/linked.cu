/* linked.cu — functions, variables, a function pointer and virtual functions of another object. */
#include "linked.h"

#include <cstdio>

static __device__ int hidden = 1000; /* not the one of linked_part.cu */
static __device__ __noinline__ int local(int x) { return x + hidden; }
extern __shared__ int dynamic[];

static __global__ void all(int *out)
{
    int t = threadIdx.x;
    dynamic[t] = outer(t) + table[t & 3];
    __syncthreads();
    shape a(1);
    other b(2);
    const shape *s = t & 1 ? (const shape *)&b : &a;
    out[t] = dynamic[t] + local(t) + chosen(t) + s->of(t);
    atomicAdd(&counter, 1);
}

static int wrong(const int *device, bool first)
{
    static const int table[] = {10, 20, 30, 40};
    int host[32], count = 0;
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++) {
        int want = t ^ 1;
        if (first)
            want = 2000 * t + 1 + table[t & 3] + t + 1000 + t + 9 + (t & 1 ? 2 * t : 1 + t);
        count += host[t] != want;
    }
    return count;
}

int main()
{
    int *out, count = 0, bad = 0;
    cudaMalloc(&out, 32 * sizeof *out);
    all<<<1, 32, 32 * sizeof(int)>>>(out);
    bad += wrong(out, true);
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    both<int><<<1, 32>>>(out);
    bad += wrong(out, false);
    launch_both(out);
    bad += wrong(out, false);
    printf("%d wrong, counter %d, %s\n", bad, count, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
