/* sync-vote.cu — lanes that have left a loop are named in the mask of its votes. */
#include "pair.h"

template <bool right> __global__ void count(const int *in, int *out, int n)
{
    int votes = 0;
    for (int i = threadIdx.x; right ? i - threadIdx.x < n : i < n; i += 32) {
        int value = i < n ? in[i] : 1;
        votes += __popc(__ballot_sync(0xffffffff, value == 0)); /* synccheck: exited */
    }
    out[threadIdx.x] = votes;
}

int main(int argc, char **argv)
{
    int *in = zeros<int>(80), *out = zeros<int>(32);
    LAUNCH(count, is_right(argc, argv), 1, 32, in, out, 80);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
