/* heap.cu — malloc, free, new and delete in kernels. */
#include "heap.h"

#include <cstdlib>

struct node {
    int value;
    node *next;
    __device__ node(int value, node *next) : value(value), next(next) {}
    __device__ virtual ~node() {}
};

/* Every thread builds a list of its own, adds it up and frees it. */
static __global__ void lists(int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    node *list = nullptr;
    for (int i = 0; i <= t % 7; i++) list = new node(t + i, list);
    while (list) {
        node *rest = list->next;
        sum += list->value;
        delete list;
        list = rest;
    }
    out[t] = sum;
}

static __device__ int *kept[1024];

static __global__ void keep(int *out)
{
    int t = threadIdx.x;
    kept[t] = (int *)malloc((t + 1) * sizeof(int));
    for (int i = 0; i <= t; i++) kept[t][i] = t * i;
    out[t] = kept[t] != nullptr && (size_t)kept[t] % 16 == 0;
}

/* Another kernel, and another thread, frees it. */
static __global__ void look_and_free(int *out)
{
    int t = threadIdx.x, other = blockDim.x - 1 - t;
    out[t] = kept[other][other];
    free(kept[other]);
}

static __global__ void exhaust(int *out, size_t bytes)
{
    int got = 0;
    void *block[64];
    while (got < 64 && (block[got] = malloc(bytes))) got++;
    out[0] = got;
    for (int i = 0; i < got; i++) free(block[i]);
    out[1] = malloc(bytes) != nullptr;
    free(nullptr);
}

static __global__ void wrong(int *out, int what)
{
    char *block = (char *)malloc(20), *other = (char *)malloc(20);
    switch (what) {
    case HEAP_TWICE:
        free(block);
        free(block);
        break;
    case HEAP_INSIDE: free(block + 16); break;
    case HEAP_FOREIGN: free(out); break;
    case HEAP_BEHIND: block[20] = 1; break;
    case HEAP_FREED:
        free(other);
        out[0] = other[7];
        break;
    }
}

cudaError_t launch_lists(int *out, int blocks, int threads)
{
    lists<<<blocks, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_keep(int *out, int threads)
{
    keep<<<1, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_look_and_free(int *out, int threads)
{
    look_and_free<<<1, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_exhaust(int *out, size_t bytes)
{
    exhaust<<<1, 1>>>(out, bytes);
    return cudaGetLastError();
}
cudaError_t launch_wrong_heap(int *out, int what)
{
    wrong<<<1, 1>>>(out, what);
    return cudaGetLastError();
}
cudaError_t address_of_kept(void **address)
{
    return cudaMemcpyFromSymbol(address, kept, sizeof *address, 0, cudaMemcpyDeviceToHost);
}
