/* deadlock-lock.cu — a thread that returns early does not release its lock. */
#include "pair.h"
#include <cuda/atomic>

template <bool right> __global__ void insert(int *lock, int *list, int *n)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> word(*lock);
    /* memcheck: wait; synccheck: wait */
    for (int open = 0; !word.compare_exchange_weak(open, 1, cuda::memory_order_acquire); open = 0)
        continue;
    if (*n == 2) {
        if (right) word.store(0, cuda::memory_order_release);
        return;
    }
    list[(*n)++] = blockIdx.x;
    word.store(0, cuda::memory_order_release);
}

PAIR(insert<right>, 4, 1, zeros<int>(1), zeros<int>(2), zeros<int>(1))
