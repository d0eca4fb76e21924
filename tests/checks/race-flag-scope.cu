/* race-flag-scope.cu — a value for another block is released and acquired with the scope of the
 * device. The scope of a block does not reach the other block. */
#include "pair.h"
#include <cuda/atomic>

template <bool right> __global__ void hand_over(int *flag, int *value, int *out)
{
    constexpr auto scope = right ? cuda::thread_scope_device : cuda::thread_scope_block;
    cuda::atomic_ref<int, scope> signal(*flag);
    if (blockIdx.x == 0) {
        *value = 42;
        signal.store(1, cuda::memory_order_release);
    } else {
        while (signal.load(cuda::memory_order_acquire) == 0) continue;
        *out = *value;
    }
}

PAIR(hand_over<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))
