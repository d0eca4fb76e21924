/* race-flag.cu — block 0 passes a value to block 1 by a flag, which is released and acquired, or
 * only volatile. */
#include "pair.h"
#include <cuda/atomic>

template <bool right> __global__ void hand_over(int *value, int *flag, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> signal(*flag);
    volatile int *plain = flag;
    if (blockIdx.x == 0) {
        *value = 42;
        if (right)
            signal.store(1, cuda::memory_order_release);
        else
            *plain = 1;
    } else {
        if (right)
            while (signal.load(cuda::memory_order_acquire) == 0) continue;
        else
            while (*plain == 0) continue;
        *out = *value;
    }
}

PAIR(hand_over<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))
