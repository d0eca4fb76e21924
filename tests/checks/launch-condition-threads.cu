/* launch-condition-threads.cu — each thread sets the condition of a WHILE node for its element, so
 * that the thread that comes last decides. */
#include "conditional.cuh"

enum { N = 64 };

template <bool right> __global__ void halve(int *data, cudaGraphConditionalHandle again)
{
    int value = data[threadIdx.x] /= 2;
    if (right) value = __syncthreads_or(value); /* equal for all threads */
    cudaGraphSetConditional(again, value > 0);  /* racecheck: Race reported */
}

HOST
{
    conditional loop;
    loop.add(loop.body, nullptr, halve<right>, 1, N, numbers<int>(N), loop.condition);
    loop.run();
}
