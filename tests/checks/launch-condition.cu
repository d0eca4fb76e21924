/* launch-condition.cu — a WHILE node of a graph repeats a kernel until no element has changed. A
 * block decides before the other blocks have come so far. A node of its own comes after all. */
#include "conditional.cuh"

enum { BLOCKS = 4, N = 64 };

__device__ int changes;

template <bool right> __global__ void halve(int *data, cudaGraphConditionalHandle again)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] /= 2;
    if (data[i]) atomicAdd(&changes, 1); /* racecheck: Race reported */
    __syncthreads();
    if (right || i > 0) return;
    cudaGraphSetConditional(again, changes > 0);
    changes = 0;
}

__global__ void decide(cudaGraphConditionalHandle again)
{
    cudaGraphSetConditional(again, changes > 0);
    changes = 0;
}

HOST
{
    conditional loop;
    int *data = numbers<int>(BLOCKS * N);
    cudaGraphNode_t first =
        loop.add(loop.body, nullptr, halve<right>, BLOCKS, N, data, loop.condition);
    if (right) loop.add(loop.body, first, decide, 1, 1, loop.condition);
    loop.run();
}
