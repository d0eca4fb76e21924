/* race-coalesced.cu — a group of the lanes that are in an if has a barrier of its own. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void sum(int *data)
{
    __shared__ int words[256];
    if (threadIdx.x % 3 > 0) return;
    cg::coalesced_group group = cg::coalesced_threads();
    words[threadIdx.x] = data[threadIdx.x];
    if (right) group.sync();
    int sum = 0; /* of the group's lanes, which need not be all lanes of the if */
    for (unsigned i = 0; i < group.num_threads(); i++) {
        int other = group.shfl((int)threadIdx.x, i);
        if (group.thread_rank() == 0) sum += words[other]; /* racecheck: RAW hazard at __shared__ */
    }
    data[threadIdx.x] = sum;
}

PAIR(sum<right>, 1, 256, numbers<int>(256))
