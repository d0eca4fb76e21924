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

PAIR(count<right>, 1, 32, zeros<int>(80), zeros<int>(32), 80)
