/* deadlock-two-locks.cu — two blocks take two locks in opposite order. */
#include "pair.h"
#include <cuda/atomic>

using word = cuda::atomic_ref<int, cuda::thread_scope_device>;

__device__ static void take(int *lock)
{
    /* memcheck: wait; synccheck: wait */
    for (int open = 0; !word(*lock).compare_exchange_weak(open, 1); open = 0) continue;
}

__device__ static void give(int *lock) { word(*lock).store(0); }

template <bool right> __global__ void move(int *locks, int *accounts, int *started)
{
    int first = right ? 0 : blockIdx.x, second = 1 - first;
    take(&locks[first]);
    if (!right) { // both have one lock now, as they may have by chance
        word(*started)++;
        while (word(*started).load() < 2) continue;
    }
    take(&locks[second]);
    accounts[blockIdx.x]++;
    accounts[1 - blockIdx.x]--;
    give(&locks[second]);
    give(&locks[first]);
}

PAIR(move<right>, 2, 1, zeros<int>(2), zeros<int>(2), zeros<int>(1))
