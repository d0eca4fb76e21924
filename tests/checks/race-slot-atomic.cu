/* race-slot-atomic.cu — one block passes values to another through one slot, by release and
 * acquire. The way back, from the reader to the next store, needs them as well. */
#include "pair.h"
#include <cuda/atomic>

using counter = cuda::atomic_ref<int, cuda::thread_scope_device>;

template <bool right> __global__ void hand_on(int *slot, int *counts, int *out)
{
    counter full(counts[0]), read(counts[1]);
    for (int i = 1; i <= 4; i++)
        if (blockIdx.x == 0) {
            while (right && read.load(cuda::memory_order_acquire) < i - 1) continue;
            *slot = i;
            full.fetch_add(1, cuda::memory_order_release);
        } else {
            while (full.load(cuda::memory_order_acquire) < i) continue;
            out[i - 1] = *slot;
            read.fetch_add(1, cuda::memory_order_release);
        }
}

PAIR(hand_on<right>, 2, 1, zeros<int>(1), zeros<int>(2), zeros<int>(4))
