/* launch-siblings.cu — the second kernel needs the first one's results. In the stream
 * cudaStreamFireAndForget nothing orders them, in the block's NULL stream they come in turn. */
#include "pair.h"

enum { N = 64 };

__global__ void fill(int *data) { data[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */
__global__ void reverse(int *out, const int *in) { out[threadIdx.x] = in[N - 1 - threadIdx.x]; }

template <bool right> __global__ void start(int *out, int *data)
{
    cudaStream_t stream = right ? 0 : cudaStreamFireAndForget;
    fill<<<1, N, 0, stream>>>(data);
    reverse<<<1, N, 0, stream>>>(out, data);
}

PAIR(start<right>, 1, 1, zeros<int>(N), zeros<int>(N))
