/* race-double-checked.cu — the first block that needs a table makes it. A flag is first loaded
 * without the lock. This load must acquire, because a plain load orders nothing. */
#include "pair.h"
#include <cuda/atomic>

template <bool right> __global__ void use(int *lock, int *made, int *table, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> is_made(*made);
    if (!(right ? is_made.load(cuda::memory_order_acquire) : *made)) {
        while (atomicCAS(lock, 0, 1) != 0) continue;
        __threadfence();
        if (!is_made.load(cuda::memory_order_relaxed)) {
            *table = 42;
            is_made.store(1, cuda::memory_order_release);
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    out[blockIdx.x] = *table;
}

PAIR(use<right>, 8, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(8))
