/* race-flag-relaxed.cu — a flag between blocks that is released and acquired; relaxed, it orders
 * nothing. */
#include "pair.h"
#include <cuda/atomic>

template <bool right> __global__ void hand_over(int *data, int *flag)
{
    constexpr auto stores = right ? cuda::memory_order_release : cuda::memory_order_relaxed;
    constexpr auto loads = right ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
    cuda::atomic_ref<int, cuda::thread_scope_device> signal(*flag);
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = 42;
        signal.store(1, stores);
    } else {
        while (signal.load(loads) == 0) continue;
        data[1] = data[0]; /* racecheck: RAW hazard at __global__; racecheck: second launch */
    }
}

PAIR(hand_over<right>, 2, 32, numbers<int>(2), zeros<int>(1))
